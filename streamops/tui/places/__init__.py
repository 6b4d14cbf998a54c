"""The places one can go to, each with its crumbs and the command that prints the same. Pure data."""

from typing import TypeAlias

from streamops.model.ids import EntryId
from streamops.model.wording import quoted
from streamops.tui.places.beside import (
    Delayed,
    Letters,
    OneDelayed,
    OneLetter,
    OnePool,
    OneTopic,
    OneWorker,
    Trace,
)
from streamops.tui.places.finding import Search
from streamops.tui.places.single import (
    Charts,
    Entries,
    Group,
    OneAction,
    OneEntry,
    OneJob,
    Pending,
    Stream,
    short_id,
)
from streamops.tui.places.whole import (
    Alerts,
    Audit,
    Contexts,
    DeadLetters,
    DelayedQueues,
    Jobs,
    Pools,
    Pulse,
    Status,
    Streams,
    Topics,
    Views,
    Workers,
)
from streamops.tui.source import ContextInfo

__all__ = [
    "Alerts",
    "Audit",
    "Charts",
    "Contexts",
    "DeadLetters",
    "Delayed",
    "DelayedQueues",
    "Entries",
    "Group",
    "Jobs",
    "Letters",
    "OneAction",
    "OneDelayed",
    "OneEntry",
    "OneJob",
    "OneLetter",
    "OnePool",
    "OneTopic",
    "OneWorker",
    "Pending",
    "Place",
    "Pools",
    "Pulse",
    "Search",
    "Status",
    "Stream",
    "Streams",
    "Topics",
    "Trace",
    "Views",
    "Workers",
    "command",
    "entry_of",
    "short_id",
]

Place: TypeAlias = (
    Status
    | Pulse
    | Alerts
    | Charts
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
    | Views
    | Search
    | OneJob
    | DeadLetters
    | Letters
    | OneLetter
    | DelayedQueues
    | Delayed
    | OneDelayed
    | Topics
    | OneTopic
    | Pools
    | OnePool
    | Workers
    | OneWorker
    | Trace
)


def command(context: ContextInfo, place: Place) -> str:
    """The shell command that prints what a place shows."""
    where = ("--url", context.url) if context.url else ("-c", context.name)
    dashes = ("--",) if any(name.startswith("-") for name in place.names) else ()
    return " ".join(map(quoted, ("streamops", *where, *place.words, *dashes, *place.names)))


def entry_of(place: Place) -> tuple[str, EntryId] | None:
    """The entry that a place is about, with its stream; none where it is about none."""
    match place:
        case OneEntry(stream, entry_id) | Trace(stream, entry_id):
            return stream, entry_id
    return None
