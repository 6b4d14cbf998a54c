"""``streamops entries trace``: what became of one entry."""

from typing import Annotated, Final

from streamops.cli.options import command
from streamops.cli.params import Stream
from streamops.cli.session import Session
from streamops.model.entries import EntryId
from streamops.model.fields import argument
from streamops.model.json_text import Json, text_json
from streamops.monitor.entry_trace import TraceEvent
from streamops.resources.kinds import of_rows
from streamops.resources.table import Column
from streamops.resources.units import rfc3339

TEXT_WIDTH: Final = 80

TRACE_EVENT = of_rows(TraceEvent)

TRACE_COLUMNS: Final[tuple[Column[TraceEvent], ...]] = (
    TRACE_EVENT.moment("at", "AT", 21, lambda row: row.at, absent=True, priority=0).means(
        "When it happened, or is due, in UTC; a dash if Redis does not record it."
    ),
    TRACE_EVENT.text("kind", "WHAT", 8, lambda row: row.kind.value, priority=0).means(
        "added, gone, waiting, pending, done, marked, retry, dead, again (a replay), action (an operator's)."
    ),
    TRACE_EVENT.text("text", "EVENT", TEXT_WIDTH, lambda row: row.text, flexible=True, priority=0).means(
        "What happened, in a sentence."
    ),
)


@command(
    examples=[
        ("streamops entries trace orders 1526919030474-0", "added, delivered, dead-lettered, replayed"),
        ("streamops entries trace orders 1526919030474-0 -o json", "as JSON"),
    ],
    exits={1: "no such stream"},
)
def trace(session: Session, *, stream: Stream, ident: Annotated[EntryId, argument("", metavar="ID")]) -> None:
    """Trace an entry: added, pending, retried, dead-lettered, replayed, changed by operators.

    Groups, delayed messages, retry streams, the dead-letter queue, newer entries and the audit log are
    searched, of long ones the newest thousand. What Redis does not record, and what was not searched, is
    printed on stderr.
    """
    printer = session.printer(TRACE_COLUMNS)
    found = session.run(lambda console: console.tracer.trace(stream, ident))
    document: Json = {
        "schema": "streamops.entries.trace/1",
        "stream": text_json(found.stream),
        "id": str(found.id),
        "events": [_event_json(event) for event in found.events],
        "unknown": [text_json(sentence) for sentence in found.unknown],
    }
    printer.print_rows(found.events, lambda: document, _event_json)
    for sentence in found.unknown:
        session.narrator.note(f"not known: {sentence}")


def _event_json(event: TraceEvent) -> Json:
    return {
        "kind": event.kind.value,
        "at": None if event.at is None else rfc3339(event.at),
        "text": text_json(event.text),
        "stream": text_json(event.stream) if event.stream else None,
        "id": None if event.id is None else str(event.id),
    }
