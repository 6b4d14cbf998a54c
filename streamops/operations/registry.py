"""Every operation by its name. To add one: a folder, a row here, and its name in `main.catalogue`."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from msgspec import Struct

    from streamops.model.acting import OperationIntent
    from streamops.operations.operation import Operation


class RegistryRow(NamedTuple):
    """An operation as lists of them name it, which import none.

    Attributes:
        folder: The folder that it lives in.
        summary: What it does, in one line: the first of its intent's docstring.
        command: The words that are typed for it; empty if they are its name's: ``groups create`` for ``groups.create``.
    """

    folder: str
    summary: str
    command: str = ""


LISTED: Final = {
    "ack": RegistryRow("ack", "Acknowledge pending entries by ID."),
    "autoscale.limits": RegistryRow(
        "autoscale", "Change a pool's minimum and maximum.", command="pools limits"
    ),
    "autoscale.override": RegistryRow(
        "autoscale", "Override a pool's controller with a fixed worker count.", command="pools override"
    ),
    "autoscale.pause": RegistryRow("autoscale", "Pause a pool's controller: the worker count stays."),
    "autoscale.resume": RegistryRow("autoscale", "End a pause or an override of a pool's controller."),
    "claim": RegistryRow("claim", "Claim pending entries for another consumer."),
    "consumers.prune": RegistryRow("consumers_prune", "Remove idle consumers with nothing pending."),
    "consumers.rm": RegistryRow("consumers_rm", "Hand a consumer's pending entries over and remove it."),
    "delayed.cancel": RegistryRow("delayed", "Remove delayed messages.", command="delayed rm"),
    "delayed.run-now": RegistryRow("delayed", "Move delayed messages to their streams now."),
    "dlq.add": RegistryRow("dlq_add", "Dead-letter pending entries by ID."),
    "dlq.purge": RegistryRow("dlq_purge", "Delete dead letters for good."),
    "groups.create": RegistryRow("groups_create", "Create a consumer group."),
    "groups.destroy": RegistryRow("groups_destroy", "Destroy a consumer group.", command="groups rm"),
    "groups.rewind": RegistryRow(
        "groups_rewind", "Set a group's position: back to redeliver, forward to skip."
    ),
    "jobs.cancel": RegistryRow("jobs_cancel", "Ask a job to stop."),
    "nack": RegistryRow("nack", "Release pending entries to other consumers."),
    "pause": RegistryRow("pools", "Pause a pool: its workers read nothing more.", command="pools pause"),
    "pools.rm": RegistryRow("pools_rm", "Remove the records of a pool that nothing runs."),
    "publish": RegistryRow("publish", "Add an entry, now or after a delay."),
    "replay": RegistryRow("replay", "Replay dead letters."),
    "restore": RegistryRow("restore", "Add the entries of a file to a stream."),
    "resume": RegistryRow("pools", "Resume a paused pool's workers.", command="pools resume"),
    "scale.set": RegistryRow("autoscale", "Set a pool's worker count.", command="pools scale"),
    "streams.reclaim": RegistryRow(
        "streams_reclaim", "Reclaim stale pending entries of a group; dead-letter those that keep failing."
    ),
    "streams.rm-entry": RegistryRow(
        "streams_rm_entry", "Delete entries by ID, after writing them to a file.", command="entries rm"
    ),
    "topics.add": RegistryRow("topics", "Create a topic in Redis.", command="webhooks create"),
    "topics.recover": RegistryRow(
        "recover", "Refill a lost Redis from the request and result log.", command="webhooks recover"
    ),
    "topics.off": RegistryRow(
        "topics", "Pause a topic: its messages are not sent.", command="webhooks pause"
    ),
    "topics.on": RegistryRow("topics", "Resume a paused topic.", command="webhooks resume"),
    "topics.rm": RegistryRow("topics", "Remove a topic that is kept in Redis.", command="webhooks rm"),
    "trim": RegistryRow("trim", "Trim a stream's oldest entries; safe by default."),
    "undo": RegistryRow("undo", "Undo an action of the audit log."),
}


def command_words(operation: str) -> str:
    """The words that are typed for an operation after ``streamops``; all that shows a command takes them from here."""
    listed = LISTED.get(operation)
    return (listed and listed.command) or operation.replace(".", " ")


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
