"""Every operation by name. A new one is one row here, one file in each of ``acts``, ``plans``, ``operations``."""

from typing import Any, Final

from msgspec import Struct

from streamops.operate.acting.operation import Operation
from streamops.operate.operations.ack import ACK
from streamops.operate.operations.claim import CLAIM
from streamops.operate.operations.consumer_prune import PRUNE_CONSUMERS
from streamops.operate.operations.consumer_rm import REMOVE_CONSUMER
from streamops.operate.operations.delayed_cancel import CANCEL_DELAYED
from streamops.operate.operations.delayed_run import RUN_DELAYED
from streamops.operate.operations.delete import DELETE
from streamops.operate.operations.group_create import CREATE_GROUP
from streamops.operate.operations.group_destroy import DESTROY_GROUP
from streamops.operate.operations.group_rewind import REWIND_GROUP
from streamops.operate.operations.job_cancel import CANCEL_JOB
from streamops.operate.operations.nack import NACK
from streamops.operate.operations.pools import PAUSE, RESUME
from streamops.operate.operations.publish import PUBLISH
from streamops.operate.operations.purge import PURGE
from streamops.operate.operations.reclaim import RECLAIM
from streamops.operate.operations.replay import REPLAY
from streamops.operate.operations.restore import RESTORE
from streamops.operate.operations.scaling import SCALE, STEERING
from streamops.operate.operations.topics import ADD_TOPIC, REMOVE_TOPIC, TOPIC_OFF, TOPIC_ON
from streamops.operate.operations.trim import TRIM
from streamops.operate.operations.undo import undo_operation


def operation_named(name: str) -> Operation[Any, Any] | None:
    """The operation of that name; none where this version has none."""
    return OPERATIONS.get(name)


def operation_of(intent: Struct) -> Operation[Any, Any]:
    """The operation that an intent asks for."""
    for operation in OPERATIONS.values():
        if operation.intent is type(intent):
            return operation
    raise LookupError(f"no operation takes {type(intent).__name__}")


_ALL: Final[tuple[Operation[Any, Any], ...]] = (
    ACK,
    CLAIM,
    NACK,
    undo_operation(operation_named, operation_of),
    RUN_DELAYED,
    CANCEL_DELAYED,
    PUBLISH,
    TRIM,
    DELETE,
    REPLAY,
    PURGE,
    CREATE_GROUP,
    REWIND_GROUP,
    DESTROY_GROUP,
    REMOVE_CONSUMER,
    PRUNE_CONSUMERS,
    RESTORE,
    CANCEL_JOB,
    RECLAIM,
    ADD_TOPIC,
    REMOVE_TOPIC,
    TOPIC_OFF,
    TOPIC_ON,
    PAUSE,
    RESUME,
    SCALE,
    *STEERING,
)
OPERATIONS: Final = {operation.name: operation for operation in _ALL}
