"""Every operation by name. A new one is one row here, one file in each of ``acts``, ``plans``, ``operations``."""

from typing import Any, Final

from msgspec import Struct

from streamops.operate.acting.operation import Operation
from streamops.operate.operations.ack import ACK

OPERATIONS: Final[dict[str, Operation[Any, Any]]] = {operation.name: operation for operation in (ACK,)}


def operation_of(intent: Struct) -> Operation[Any, Any]:
    """The operation that an intent asks for."""
    for operation in OPERATIONS.values():
        if operation.intent is type(intent):
            return operation
    raise LookupError(f"no operation takes {type(intent).__name__}")
