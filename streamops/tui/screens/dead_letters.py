"""All dead-letter queues: how many letters, how old, and what they died of."""

from msgspec.structs import replace

from streamops.model.streams import StreamRole
from streamops.model.wording import counted
from streamops.monitor.dead_letters import DeadLetterQueues
from streamops.present.columns.dead_letters import DEAD_LETTER_QUEUE_COLUMNS
from streamops.present.letters import QueueRow
from streamops.present.table import Cell, Tone
from streamops.tui import places
from streamops.tui.beside.letter_lines import queue_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.places import Place
from streamops.tui.screens.read_listing import ReadListing
from streamops.tui.source import Source
from streamops.tui.subjects import Subject, subject_at
from streamops.tui.text_view import Builder

REASONS_WIDTH = 20
# Why letters died is worth more than when the last one did.
COLUMNS = tuple(
    replace(column, width=REASONS_WIDTH, priority=0) if column.key == "reasons" else column
    for column in DEAD_LETTER_QUEUE_COLUMNS
)


class DeadLettersScreen(ReadListing[QueueRow]):
    """The queues; Enter leads to a queue's letters, the key again to long work."""

    HINTS = (
        ("enter", "letters"),
        ("4", "jobs"),
        ("t", "tail"),
        ("/", "filter"),
        ("o i", "sort"),
        ("esc", "back"),
    )

    def __init__(self, place: places.DeadLetters, moment: Moment) -> None:
        super().__init__(place, moment, COLUMNS)
        self._last: tuple[str, ...] | None = None

    @property
    def may_read(self) -> bool:
        """Whether streams were observed, and so which of them are queues."""
        return self.moment.observation is not None

    async def read(self, source: Source) -> DeadLetterQueues:
        """The queues among the streams observed: of their dead letters the observation tells the number alone."""
        return await source.dead_letters.queues(self._names())

    def take(self, answer: DeadLetterQueues) -> None:
        """Take the queues."""
        self.rows, self.gaps = tuple(map(QueueRow, answer.queues)), answer.gaps

    def _names(self) -> tuple[str, ...]:
        observation = self.moment.observation
        streams = () if observation is None else observation.streams
        return tuple(view.stream.name for view in streams if view.stream.role is StreamRole.DEAD_LETTERS)

    def show(self, moment: Moment) -> None:
        """Read at once where queues came or went."""
        super().show(moment)
        if self._last is not None and self._names() != self._last:
            self.reread()

    def reread(self) -> None:
        """Read again, and remember of which queues."""
        if not self.is_reading and self.may_read:
            self._last = self._names()
        super().reread()

    def nothing(self) -> str:
        """Why there is none."""
        observation = self.moment.observation
        if observation is not None and not observation.snapshot.discovery_complete:
            return "no dead-letter queues so far; the scan for streams is not through yet"
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

    def place_of(self, row: QueueRow) -> Place:
        """Its letters."""
        return places.Letters(row.queue.queue)

    def subject_of(self, place: Place | None) -> Subject | None:
        """The queue, whatever was observed of it."""
        return None if place is None else subject_at(place, dead_letters=True)

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
        whole = Cell(f"{counted(letters, 'letter', 'letters')} ", Tone.WARN if letters else Tone.DIM)
        filtered = super().selection_words()
        return (*filtered, whole) if filtered is not BLANK_LINE else (whole,)
