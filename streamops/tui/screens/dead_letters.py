"""Dead-letter queues, and one dead letter with the trace of its entry."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import BindingType

from streamops.errors import StreamopsError
from streamops.model.entries import EntryId
from streamops.model.streams import StreamRole
from streamops.model.wording import counted
from streamops.monitor.dead_letters import DeadLetterQueues
from streamops.monitor.entry_trace import EntryTrace
from streamops.resources.dead_letters import DEAD_LETTER_QUEUE_COLUMNS, DeadLetterRow, QueueRow
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.keys import bindings
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection, selection_at
from streamops.tui.screens.dead_letter_entries import dead_letter_detail, own_fields, queue_lines
from streamops.tui.screens.read_listing import ReadListing
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.screens.trace import trace_lines
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import Builder


class DeadLetterScreen(ReadingFrame):
    """A letter in full; ``v`` shows its fields as they came, ``a`` the whole trace of its entry."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("raw")
    HINTS = (("raw", "raw"), ("trace", "trace"), ("up down", "scroll"), ("copy_id", "copy ID"), "back")

    def __init__(self, place: routes.DeadLetterRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._letter_place = place
        self._row: DeadLetterRow | None = None
        self._trace: EntryTrace | None = None
        self._no_trace = ""
        self._raw = False

    async def read(self, source: Source) -> DeadLetterRow:
        """The letter."""
        queue = self._letter_place.queue
        letter = await source.dead_letters.read_one(queue, self._letter_place.id)
        return DeadLetterRow(letter, await source.dead_letters.clock(queue))

    def take(self, answer: DeadLetterRow) -> None:
        """Take the letter; then read the trace of its entry."""
        self._row = answer
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

    def lines(self, width: int) -> Sequence[Line]:
        """Why it died, the entry's trace, and its fields."""
        row = self._row
        if row is None:
            return () if self.error else [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        return [
            *dead_letter_detail(row, width),
            BLANK_LINE,
            *self._trace_lines(width),
            BLANK_LINE,
            *own_fields(row, width, raw=self._raw),
        ]

    def _trace_lines(self, width: int) -> list[Line]:
        heading: Line = (Cell(" Its trace", Tone.STRONG),)
        if self._origin() is None:
            return [heading, (Cell(" not known: the dead letter does not name its entry", Tone.UNKNOWN),)]
        if self._trace is None:
            return [heading, (Cell(f" {self._no_trace or 'reading'}", Tone.DIM),)]
        return [heading, *trace_lines(self._trace, width)]

    def selection(self) -> Selection | None:
        """The letter."""
        return selection_at(self._letter_place, dead_letters=True)

    def copyable(self) -> str:
        """The letter's ID."""
        return str(self._letter_place.id)

    def entry_at(self) -> tuple[str, EntryId] | None:
        """The entry that died."""
        origin = self._origin()
        return None if origin is None else (origin.stream, origin.id)

    def action_raw(self) -> None:
        """Show text as it came, or decoded again."""
        self._raw = not self._raw
        self.refresh_detail()

    def _origin(self) -> routes.TraceRoute | None:
        letter = None if self._row is None else self._row.letter
        if letter is None or letter.origin is None or letter.origin_id is None:
            return None
        return routes.TraceRoute(letter.origin, letter.origin_id)


REASONS_WIDTH = 20
# Why letters died is worth more than when the last one did.
COLUMNS = tuple(
    replace(column, width=REASONS_WIDTH, priority=0) if column.key == "reasons" else column
    for column in DEAD_LETTER_QUEUE_COLUMNS
)


class DeadLettersScreen(ReadListing[QueueRow]):
    """The queues; Enter leads to a queue's letters, the key again to long work."""

    HINTS = (
        ("open", "dead letters"),
        ("4", "jobs"),
        "tail",
        "filter",
        "sort",
        "back",
    )

    def __init__(self, place: routes.DeadLettersRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, COLUMNS)
        self._last: tuple[str, ...] | None = None

    @property
    def may_read(self) -> bool:
        """Whether streams were observed, and so which of them are queues."""
        return self.app_state.observation is not None

    async def read(self, source: Source) -> DeadLetterQueues:
        """The queues among the streams observed: of their dead letters the observation tells the number alone."""
        return await source.dead_letters.queues(self._names())

    def take(self, answer: DeadLetterQueues) -> None:
        """Take the queues."""
        self.rows, self.gaps = tuple(map(QueueRow, answer.queues)), answer.gaps

    def _names(self) -> tuple[str, ...]:
        observation = self.app_state.observation
        streams = () if observation is None else observation.streams
        return tuple(view.stream.name for view in streams if view.stream.role is StreamRole.DEAD_LETTERS)

    def show(self, app_state: AppState) -> None:
        """Read at once where queues came or went."""
        super().show(app_state)
        if self._last is not None and self._names() != self._last:
            self.reread()

    def reread(self) -> None:
        """Read again, and remember of which queues."""
        if not self.is_reading and self.may_read:
            self._last = self._names()
        super().reread()

    def nothing(self) -> str:
        """Why there is none."""
        observation = self.app_state.observation
        if observation is not None and not observation.snapshot.discovery_complete:
            return "no dead-letter queues so far; still scanning for streams"
        return "no dead-letter queues: no stream's name ends in :dlq, and the configuration names none"

    def identify(self, row: QueueRow) -> str:
        """The queue's name."""
        return row.queue.queue

    def text_of(self, row: QueueRow) -> str:
        """Its name, its stream's, and the reasons."""
        reasons = (reason for reason, _ in row.queue.tally.reasons)
        return " ".join([row.queue.queue, row.queue.source or "", *reasons])

    def is_fault(self, row: QueueRow) -> bool:
        """Whether there are letters."""
        return row.queue.length > 0

    def place_of(self, row: QueueRow) -> Route:
        """Its letters."""
        return routes.DeadLetterEntriesRoute(row.queue.queue)

    def selection_of(self, place: Route | None) -> Selection | None:
        """The queue, whatever was observed of it."""
        return None if place is None else selection_at(place, dead_letters=True)

    def detail(self, row: QueueRow) -> Builder:
        """The queue in full."""
        return lambda width: queue_lines(row, width)

    def name_of(self, row: QueueRow) -> str:
        """The queue's name."""
        return row.queue.queue

    def selection_words(self) -> Line:
        """How many letters there are in all, beside the filter."""
        if not self.rows:
            return super().selection_words()
        letters = sum(row.queue.length for row in self.rows)
        whole = Cell(
            f"{counted(letters, 'dead letter', 'dead letters')} ", Tone.WARN if letters else Tone.DIM
        )
        filtered = super().selection_words()
        return (*filtered, whole) if filtered is not BLANK_LINE else (whole,)
