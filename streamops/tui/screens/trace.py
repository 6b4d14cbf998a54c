"""The trace of one entry: added, delivered, tried, given up, replayed, as far as Redis knows."""

from collections.abc import Sequence
from typing import Final

from streamops.monitor.entry_trace import EntryTrace, TraceEvent, TraceKind
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import duration, timestamp
from streamops.tui import routes
from streamops.tui.lines.details import heading, paragraph
from streamops.tui.screens.read_listing import ReadingFrame
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line, wrap

GLYPHS: Final = {
    TraceKind.ADDED: ("+", Tone.OK),
    TraceKind.GONE: ("✗", Tone.WARN),
    TraceKind.WAITING: ("·", Tone.DIM),
    TraceKind.PENDING: ("▸", Tone.WARN),
    TraceKind.DONE: ("✓", Tone.PLAIN),
    TraceKind.UNKNOWN: ("?", Tone.UNKNOWN),
    TraceKind.MARKED: ("▲", Tone.WARN),
    TraceKind.RETRY: ("↻", Tone.WARN),
    TraceKind.DEAD: ("✗", Tone.CRITICAL),
    TraceKind.AGAIN: ("↻", Tone.OK),
    TraceKind.ACTION: ("◆", Tone.PLAIN),
}
WHEN: Final = 21
"""Width of an instant; on narrow screens the text begins below it."""
NARROW: Final = 56


class TraceScreen(ReadingFrame[EntryTrace]):
    """What became of an entry; Enter shows the entry itself."""

    place: routes.TraceRoute

    HINTS = ("trace.entry", ("read_now", "reload"), ("up down", "scroll"), ("copy_id", "copy ID"), "back")

    async def read(self, source: Source) -> EntryTrace:
        """The trace."""
        return await source.tracer.trace(self.place.stream, self.place.id)

    def lines(self, thing: EntryTrace, width: int) -> Sequence[Line]:
        """What happened, and what is not known."""
        title: Line = (Cell(f" {self.copyable()}", Tone.STRONG),)
        return [title, BLANK_LINE, *trace_lines(thing, width)]

    def action_entry(self) -> None:
        """Show the entry."""
        self.console.go(routes.EntryRoute(self.place.stream, self.place.id))


def trace_lines(trace: EntryTrace, width: int) -> list[Line]:
    """What happened to it, and what is not known of that."""
    lines: list[Line] = []
    for event in trace.events:
        lines += _event(trace, event, width)
    if trace.unknown:
        lines += [BLANK_LINE, heading("Not known")]
        for sentence in trace.unknown:
            lines += paragraph(f"? {safe(sentence)}", width, Tone.UNKNOWN, hang=2)
    return lines


def _event(trace: EntryTrace, event: TraceEvent, width: int) -> list[Line]:
    glyph, tone = GLYPHS[event.kind]
    when = "" if event.at is None else timestamp(event.at)
    if width < NARROW:
        head: list[Line] = [(Cell(f" {when} {_ago(trace, event)}".rstrip(), Tone.DIM),)] if when else []
        return [*head, *paragraph(f"{glyph} {safe(event.text)}", width, tone, hang=2)]
    first, *rest = wrap(safe(event.text), width - WHEN - 5)
    lines: list[Line] = [
        (Cell(f" {when.ljust(WHEN)} ", Tone.DIM), Cell(f"{glyph} ", tone), Cell(first, tone))
    ]
    return lines + [(Cell(" " * (WHEN + 4)), Cell(piece, tone)) for piece in rest]


def _ago(trace: EntryTrace, event: TraceEvent) -> str:
    if trace.now is None or event.at is None:
        return ""
    age = trace.now - event.at
    return f"in {duration(-age)}" if age.total_seconds() < 0 else f"{duration(age)} ago"
