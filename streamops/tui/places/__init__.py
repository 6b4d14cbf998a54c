"""The places one can go to, each with its crumbs and the command that prints the same. Pure data."""

from typing import TypeAlias

from streamops.analysis.wording import quoted
from streamops.tui.places.single import (
    Entries,
    Group,
    OneAction,
    OneEntry,
    OneJob,
    Pending,
    Stream,
    short_id,
)
from streamops.tui.places.whole import Audit, Contexts, Jobs, Status, Streams
from streamops.tui.source import ContextInfo

__all__ = [
    "Audit",
    "Contexts",
    "Entries",
    "Group",
    "Jobs",
    "OneAction",
    "OneEntry",
    "OneJob",
    "Pending",
    "Place",
    "Status",
    "Stream",
    "Streams",
    "command",
    "short_id",
]

Place: TypeAlias = (
    Status
    | Streams
    | Stream
    | Group
    | Pending
    | Entries
    | OneEntry
    | Contexts
    | Audit
    | OneAction
    | Jobs
    | OneJob
)


def command(context: ContextInfo, place: Place) -> str:
    """The shell command that prints what a place shows."""
    where = ("--url", context.url) if context.url else ("-c", context.name)
    dashes = ("--",) if any(name.startswith("-") for name in place.names) else ()
    return " ".join(map(quoted, ("streamops", *where, *place.words, *dashes, *place.names)))
