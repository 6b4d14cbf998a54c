"""Streams: columns and JSON."""

from typing import Final

from streamops.model.json_text import Json, text_json
from streamops.model.observation import Health, StreamView
from streamops.resources.findings import findings_json
from streamops.resources.groups import group_json
from streamops.resources.kinds import NAME_WIDTH, id_text, of_rows, rounded
from streamops.resources.table import Column, Resource

OWN: Final = "streamops:"
"""What names of keys begin with that streamops keeps for itself."""


def asked_for_alone(stream: StreamView) -> bool:
    """Whether people see a stream only if they ask for it: it is one of streamops itself, such as the audit log, and nothing is wrong."""
    return stream.stream.name.startswith(OWN) and not stream.groups and not stream.findings


def _pending(view: StreamView) -> int:
    return sum(group.group.pending for group in view.groups)


STREAM = of_rows(StreamView)


STREAM_COLUMNS: Final[tuple[Column[StreamView], ...]] = (
    STREAM.text(
        "stream", "STREAM", NAME_WIDTH, lambda view: view.stream.name, flexible=True, priority=0
    ).means("The stream's key.", "SCAN TYPE stream, or the names in the configuration"),
    STREAM.health("health", "HEALTH", 9, lambda view: view.health, priority=0).means(
        "The worst of the findings about the stream and its groups.",
        "streamops's own rules, over the stream and its groups",
    ),
    STREAM.count("length", "LENGTH", 9, lambda view: view.stream.length, priority=0).means(
        "Entries in the stream (XLEN), read or not.", "XLEN"
    ),
    STREAM.count("groups", "GROUPS", 6, lambda view: len(view.groups)).means(
        "Consumer groups of the stream.", "XINFO STREAM groups"
    ),
    STREAM.count("pending", "PENDING", 8, _pending).means(
        "Entries delivered to consumers and not acknowledged yet, all groups together.",
        "the sum of XINFO GROUPS pending",
    ),
    STREAM.rate("added_per_second", "ADDED", 9, lambda view: view.added_per_second, priority=2).means(
        "Rate of entries added, per second; a dash before there are two readings.",
        "XINFO STREAM entries-added of two readings (before Redis 7.0: XLEN), over the time between them",
    ),
    STREAM.text("role", "ROLE", 12, lambda view: str(view.stream.role), priority=3).means(
        "What the stream is for, by its name and the configuration: events, dead_letters or retry.",
        "the stream's name, or the configuration's dead_letters",
    ),
    STREAM.id("last_id", "LAST ID", 18, lambda view: view.stream.last_id, descending=True, priority=2).means(
        "ID of the stream's last entry; a dash where it is empty or unknown.",
        "XINFO STREAM last-entry, its ID alone",
    ),
    STREAM.size("entry_bytes", "ENTRY SIZE", 10, lambda view: view.stream.entry_bytes, priority=4).means(
        "Size of the larger of the first and last entry of the stream; ? if unknown.",
        "the larger of first-entry and last-entry of XINFO STREAM, measured on the server",
    ),
)
"""What a table of streams shows."""


STREAM_DETAIL_COLUMNS: Final[tuple[Column[StreamView], ...]] = (
    STREAM.id("first_id", "FIRST ID", 18, lambda view: view.stream.first_id).means(
        "ID of the stream's first entry; a dash where it is empty or unknown.",
        "XINFO STREAM first-entry, its ID alone",
    ),
    STREAM.id("last_generated_id", "LAST GENERATED", 18, lambda view: view.stream.last_generated_id).means(
        "The highest ID the stream ever had; a dash where unknown.", "XINFO STREAM last-generated-id"
    ),
    STREAM.id("max_deleted_id", "MAX DELETED", 18, lambda view: view.stream.max_deleted_id).means(
        "The highest ID deleted by XDEL; a dash where unknown (before Redis 7.0).",
        "XINFO STREAM max-deleted-entry-id (Redis 7.0 and later)",
    ),
    STREAM.count("entries_added", "ADDED EVER", 10, lambda view: view.stream.entries_added, short=True).means(
        "Entries ever added to the stream; ? where unknown (before Redis 7.0).",
        "XINFO STREAM entries-added (Redis 7.0 and later)",
    ),
    STREAM.text("source", "SOURCE", NAME_WIDTH, lambda view: view.stream.source, flexible=True).means(
        "For dead letters and retry streams, the stream they came from.",
        "the stream's name, or the configuration's dead_letters",
    ),
)
"""What scripts and ``--fields`` can have besides."""


def stream_json(view: StreamView) -> Json:
    """A stream with everything that is known about it, and its groups."""
    state = view.stream
    return {
        **stream_head_json(view),
        "last_generated_id": id_text(state.last_generated_id),
        "max_deleted_id": id_text(state.max_deleted_id),
        "entry_bytes": state.entry_bytes,
        "added_per_second": rounded(view.added_per_second),
        "role": state.role,
        "source": None if state.source is None else text_json(state.source),
        "groups": [group_json(group) for group in view.groups],
    }


def stream_head_json(view: StreamView) -> Json:
    """A stream as ``status`` has it, without its groups."""
    state = view.stream
    return {
        "stream": text_json(state.name),
        "length": state.length,
        "first_id": id_text(state.first_id),
        "last_id": id_text(state.last_id),
        "entries_added": state.entries_added,
        "health": view.health.word,
        "findings": findings_json(view.findings),
    }


def _words(view: StreamView) -> str:
    findings = (found.code for found in view.findings)
    return " ".join([view.stream.name, view.stream.role, view.health.word, *findings])


STREAMS: Final = Resource[StreamView](
    key=lambda view: view.stream.name,
    columns=STREAM_COLUMNS,
    more=STREAM_DETAIL_COLUMNS,
    text=_words,
    fault=lambda view: view.health >= Health.WARN,
    rows=lambda seen: tuple([view for view in seen.streams if not asked_for_alone(view)]),
)
