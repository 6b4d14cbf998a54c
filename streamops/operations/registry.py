"""Every operation by its name. To add one: a folder, a row here, and its command in `cli.catalogue`."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from msgspec import Struct

    from streamops.model.acting import OperationIntent
    from streamops.operations.operation import Operation


class Listed(NamedTuple):
    """An operation as lists of them name it, which import none.

    Attributes:
        folder: The folder that it lives in.
        summary: What it does, in one line: the first of its intent's docstring.
    """

    folder: str
    summary: str


LISTED: Final = {
    "ack": Listed("ack", "Acknowledge pending entries by ID."),
    "autoscale.limits": Listed("autoscale", "Have the controller of a pool keep to other limits."),
    "autoscale.override": Listed("autoscale", "Have the controller of a pool keep a number of workers."),
    "autoscale.pause": Listed(
        "autoscale", "Have the controller of a pool change nothing, for the time being."
    ),
    "autoscale.resume": Listed("autoscale", "Have the controller of a pool decide by the policy again."),
    "claim": Listed("claim", "Take pending entries over."),
    "consumers.prune": Listed("consumers_prune", "Remove idle consumers with nothing pending."),
    "consumers.rm": Listed("consumers_rm", "Hand a consumer's pending entries over and remove it."),
    "delayed.cancel": Listed("delayed", "Remove delayed messages."),
    "delayed.run-now": Listed("delayed", "Move delayed messages to where they go now."),
    "dlq.purge": Listed("dlq_purge", "Delete letters for good."),
    "groups.create": Listed("groups_create", "Create a consumer group."),
    "groups.destroy": Listed("groups_destroy", "Destroy a consumer group."),
    "groups.rewind": Listed("groups_rewind", "Set a group back, or forward."),
    "jobs.cancel": Listed("jobs_cancel", "Ask a job to stop."),
    "nack": Listed("nack", "Give pending entries back."),
    "pause": Listed("pools", "Have the workers of a pool read nothing more, for the time being."),
    "publish": Listed("publish", "Add an entry, or a message that becomes one later."),
    "replay": Listed("replay", "Replay dead letters."),
    "restore": Listed("restore", "Add the entries of a file to a stream."),
    "resume": Listed("pools", "Have the workers of a pool read again."),
    "scale.set": Listed("autoscale", "Ask whoever runs a pool's workers for another number."),
    "streams.reclaim": Listed(
        "streams_reclaim", "Reclaim stale pending entries of a group; dead-letter those that keep failing."
    ),
    "streams.rm-entry": Listed("streams_rm_entry", "Delete entries by ID, after writing them to a file."),
    "topics.add": Listed("topics", "Keep a topic in Redis."),
    "topics.off": Listed("topics", "Call a topic's messages no more, for the time being."),
    "topics.on": Listed("topics", "Call a topic's messages again."),
    "topics.rm": Listed("topics", "Remove a topic that is kept in Redis."),
    "trim": Listed("trim", "Drop a stream's oldest entries, none that is still needed."),
    "undo": Listed("undo", "Take an action back."),
}


def intent_of(operation: str) -> "type[OperationIntent]":
    """The intent of an operation by its name; imports nothing of what runs it."""
    module = import_module(f"streamops.operations.{LISTED[operation].folder}.intent")
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
            self._load(LISTED[name].folder)
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(LISTED)

    def __len__(self) -> int:
        return len(LISTED)

    def of(self, intent: "Struct") -> "Operation[Any, Any]":
        """The operation that an intent asks for."""
        folder = type(intent).__module__.split(".")[-2]
        return next(
            self[name]
            for name, listed in LISTED.items()
            if listed.folder == folder and self[name].intent is type(intent)
        )

    def _load(self, folder: str) -> None:
        operations = import_module(f"streamops.operations.{folder}.run").OPERATIONS
        self.loaded.update((operation.name, operation) for operation in operations)


OPERATIONS: Final = _Operations()
