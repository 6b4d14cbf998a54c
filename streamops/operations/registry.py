"""Every operation by its name. To add one: a folder, and a row here."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    from streamops.model.acting import OperationIntent
    from streamops.operations.operation import Operation

FOLDERS: Final = {
    "ack": "ack",
    "autoscale.limits": "autoscale",
    "autoscale.override": "autoscale",
    "autoscale.pause": "autoscale",
    "autoscale.resume": "autoscale",
    "claim": "claim",
    "consumers.prune": "consumers_prune",
    "consumers.rm": "consumers_rm",
    "delayed.cancel": "delayed",
    "delayed.run-now": "delayed",
    "dlq.purge": "dlq_purge",
    "groups.create": "groups_create",
    "groups.destroy": "groups_destroy",
    "groups.rewind": "groups_rewind",
    "jobs.cancel": "jobs_cancel",
    "nack": "nack",
    "pause": "pools",
    "publish": "publish",
    "replay": "replay",
    "restore": "restore",
    "resume": "pools",
    "scale.set": "autoscale",
    "streams.reclaim": "streams_reclaim",
    "streams.rm-entry": "streams_rm_entry",
    "topics.add": "topics",
    "topics.off": "topics",
    "topics.on": "topics",
    "topics.rm": "topics",
    "trim": "trim",
    "undo": "undo",
}
"""The folder of each operation."""


def intent_of(operation: str) -> "type[OperationIntent]":
    """The intent of an operation by its name; imports nothing of what runs it."""
    module = import_module(f"streamops.operations.{FOLDERS[operation]}.intent")
    found: type[OperationIntent] = next(
        one for one in vars(module).values() if getattr(one, "operation", "") == operation
    )
    return found


class _Operations(Mapping[str, "Operation[Any, Any]"]):
    """The operations by name. A folder is imported when the first of its operations is asked for."""

    def __init__(self) -> None:
        self.loaded: dict[str, Operation[Any, Any]] = {}

    def __getitem__(self, name: str) -> "Operation[Any, Any]":
        if name not in self.loaded:
            self._load(FOLDERS[name])
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(FOLDERS)

    def __len__(self) -> int:
        return len(FOLDERS)

    def of(self, intent: Struct) -> "Operation[Any, Any]":
        """The operation that an intent asks for."""
        folder = type(intent).__module__.split(".")[-2]
        return next(
            self[name]
            for name, its_folder in FOLDERS.items()
            if its_folder == folder and self[name].intent is type(intent)
        )

    def _load(self, folder: str) -> None:
        operations = import_module(f"streamops.operations.{folder}.run").OPERATIONS
        self.loaded.update((operation.name, operation) for operation in operations)


OPERATIONS: Final = _Operations()
