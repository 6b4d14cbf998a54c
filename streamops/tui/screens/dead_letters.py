"""Dead-letter queues, and one dead letter with the trace of its entry."""

from collections.abc import Sequence
from typing import Final

from streamops.errors import StreamopsError
from streamops.model.entries import EntryId
from streamops.model.streams import StreamRole
from streamops.model.wording import counted
from streamops.monitor.entry_trace import EntryTrace
from streamops.resources.dead_letters import DEAD_LETTER_QUEUES, DeadLetterRow, QueueRow
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.lines.payload import own_fields
from streamops.tui.polling.app_state import AppState
from streamops.tui.screens.dead_letter_entries import dead_letter_detail, entry_of, queue_lines
from streamops.tui.screens.read_listing import FieldsFrame, Page, ReadList, ReadListing
from streamops.tui.screens.trace import trace_lines
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line


class DeadLetterScreen(FieldsFrame[DeadLetterRow]):
    """A letter in full; ``v`` shows its fields as they came, ``a`` the whole trace of its entry."""

    place: routes.DeadLetterRoute

    HINTS = (("raw", "raw"), ("trace", "trace"), ("up down", "scroll"), ("copy_id", "copy ID"), "back")

    def __init__(self, place: routes.DeadLetterRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._trace: EntryTrace | None = None
        self._no_trace = ""

    async def read(self, source: Source) -> DeadLetterRow:
        """The letter."""
        queue = self.place.queue
        letter = await source.dead_letters.read_one(queue, self.place.id)
        return DeadLetterRow(letter, await source.dead_letters.clock(queue))

    def take(self, thing: DeadLetterRow) -> None:
        """Take the letter; then read the trace of its entry."""
        super().take(thing)
        if (origin := self._origin()) is not None:
            self.fetch(
                lambda source: source.tracer.trace(origin.stream, origin.id),
                self._take_trace,
                self._lack_trace,
            )

    def _take_trace(self, trace: EntryTrace) -> None:
        self._trace = trace
        self.refresh_detail()

    def _lack_trace(self, error: StreamopsError) -> None:
        self._no_trace = safe(error.message)
        self.refresh_detail()

    def lines(self, thing: DeadLetterRow, width: int) -> Sequence[Line]:
        """Why it died, the entry's trace, and its fields."""
        return [
            *dead_letter_detail(thing, width),
            BLANK_LINE,
            *self._trace_lines(width),
            BLANK_LINE,
            *own_fields(entry_of(thing), width, raw=self.is_raw),
        ]

    def _trace_lines(self, width: int) -> list[Line]:
        heading: Line = (Cell(" Its trace", Tone.STRONG),)
        if self._origin() is None:
            return [heading, (Cell(" not known: the dead letter does not name its entry", Tone.UNKNOWN),)]
        if self._trace is None:
            return [heading, (Cell(f" {self._no_trace or 'reading'}", Tone.DIM),)]
        return [heading, *trace_lines(self._trace, width)]

    def entry_at(self) -> tuple[str, EntryId] | None:
        """The entry that died."""
        origin = self._origin()
        return None if origin is None else (origin.stream, origin.id)

    def _origin(self) -> routes.TraceRoute | None:
        letter = None if self.thing is None else self.thing.letter
        if letter is None or letter.origin is None or letter.origin_id is None:
            return None
        return routes.TraceRoute(letter.origin, letter.origin_id)


def _names(app_state: AppState) -> tuple[str, ...] | None:
    """The queues among the streams observed; none before the first observation."""
    if app_state.observation is None:
        return None
    streams = (view.stream for view in app_state.observation.streams)
    return tuple(stream.name for stream in streams if stream.role is StreamRole.DEAD_LETTERS)


async def _read(screen: ReadListing[QueueRow], source: Source) -> Page[QueueRow]:
    """The queues: of their dead letters the observation says the number alone."""
    observation = screen.app_state.observation
    found = await source.dead_letters.queues(_names(screen.app_state) or ())
    so_far = observation is not None and not observation.snapshot.discovery_complete
    return Page(
        rows=tuple(map(QueueRow, found.queues)),
        gaps=found.gaps,
        nothing=(
            "no dead-letter queues so far; still scanning for streams"
            if so_far
            else "no dead-letter queues: no stream's name ends in :dlq, and the configuration names none"
        ),
    )


def _summary(rows: Sequence[QueueRow]) -> Cell | None:
    letters = sum(row.queue.length for row in rows)
    words = f"{counted(letters, 'dead letter', 'dead letters')} "
    return Cell(words, Tone.WARN if letters else Tone.DIM) if rows else None


QUEUE_LIST: Final = ReadList(
    resource=DEAD_LETTER_QUEUES,
    hints=(("open", "dead letters"), ("4", "jobs"), "tail", "filter", "sort", "back"),
    read=_read,
    needs=_names,
    leads=lambda row: routes.DeadLetterEntriesRoute(row.queue.queue),
    detail=queue_lines,
    summary=_summary,
)
