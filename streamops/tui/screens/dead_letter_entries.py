"""One dead-letter queue: what its letters died of and where they came from, and the letters, the newest first."""

from collections.abc import Sequence
from time import monotonic
from typing import Final

from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.dead_letters import QueueSummary
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.selections import DeadLetterSelection
from streamops.model.wording import counted
from streamops.resources.dead_letters import (
    DEAD_LETTER_COLUMNS,
    DEAD_LETTER_DETAIL_COLUMNS,
    DEAD_LETTER_QUEUE_COLUMNS,
    DEAD_LETTERS,
    DeadLetterRow,
    QueueRow,
)
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, duration, percent
from streamops.tui import routes
from streamops.tui.lines.charting import ChartPart, parts_line
from streamops.tui.lines.details import column_facts, heading, paragraph
from streamops.tui.lines.payload import SHOWN_BYTES, own_fields
from streamops.tui.polling.app_state import AppState
from streamops.tui.rows.selection import Selection, SelectionKind
from streamops.tui.screens.listing import Listing
from streamops.tui.screens.marking import WholeMarking
from streamops.tui.screens.paging import PAGE, PageOfRows, SummarizedList
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.prompt import WHERE, Prompt

PANE_BYTES: Final = 8 * 1024
SUM_UP_AGAIN: Final = 10.0
"""Seconds from one summing up to the next; only if the length changed."""
WIDTHS: Final = {"age_seconds": 6, "reason": 14, "error": 30}
AS_WIDE_AS_TEXT: Final = frozenset({"id", "reason", "error"})
PRIORITIES: Final = {"age_seconds": 0, "deliveries": 1, "group": 2, "replays": 4, "error": 0, "origin": 3}
ORIGIN: Final = tuple(column for column in DEAD_LETTER_DETAIL_COLUMNS if column.key == "origin")
COLUMNS: Final = tuple(
    replace(
        column,
        width=WIDTHS.get(column.key, column.width),
        flexible=column.flexible or column.key in AS_WIDE_AS_TEXT,
        priority=PRIORITIES.get(column.key, column.priority),
    )
    for column in (*DEAD_LETTER_COLUMNS[:3], *ORIGIN, *DEAD_LETTER_COLUMNS[3:])
)


MOST_CHOSEN: Final = 1_000
"""Dead letters that an expression holds of and that are shown."""


class DeadLetterEntriesScreen(
    SummarizedList[DeadLetterRow, EntryId, QueueSummary], WholeMarking[DeadLetterRow]
):
    """Letters. ``=`` asks for an expression that holds of them.

    What is marked is acted on, by IDs; ``*`` once more takes all that there are, or that the expression holds of.
    """

    def __init__(self, place: routes.DeadLetterEntriesRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, DEAD_LETTER_LIST)
        self._queue = place.queue
        self._where = place.where

    def show(self, app_state: AppState) -> None:
        """Show the dead letters as old as they are now; sum up again where the queue's length changed."""
        newer = app_state.observation is not self.app_state.observation
        if newer and (now := app_state.now) is not None:
            self.read_rows = tuple(DeadLetterRow(row.letter, row.now and now) for row in self.read_rows)
        super().show(app_state)
        seen = app_state.find_stream(self._queue) if newer else None
        known = None if self.summary is None else self.summary.length
        due = monotonic() - self.summed_at > SUM_UP_AGAIN
        if seen is not None and known not in {None, seen.stream.length} and due:
            self.sum_up()

    async def read_page(self, source: Source, after: EntryId | None) -> PageOfRows[DeadLetterRow, EntryId]:
        """Read the newest page, or the one before it; what an expression holds of comes all at once."""
        if self._where:
            chosen = DeadLetterSelection(queue=self._queue, where=self._where)
            page = await source.dead_letters.page(chosen, MOST_CHOSEN)
        else:
            page = await source.dead_letters.newest(self._queue, before=after, count=PAGE)
        rows = [DeadLetterRow(letter, page.now) for letter in page.letters]
        return rows, rows[-1].letter.id if page.more and rows else None

    def reads_on(self) -> bool:
        """Whether there is a next page: an expression has none."""
        return super().reads_on() and not self._where

    async def read_summary(self, source: Source) -> QueueSummary:
        """What the queue comes to."""
        return await source.dead_letters.queue(self._queue)

    def summary_lines(self, summary: QueueSummary | None, width: int) -> Sequence[Line]:
        """The same in three lines."""
        return queue_head(summary, width)

    # -- what it shows -------------------------------------------------------------------------------

    def nothing(self) -> str:
        """Why nothing is listed."""
        return "no dead letter matches; Esc shows all" if self._where else "the queue is empty"

    def empty_note(self) -> str:
        """Why nothing is listed."""
        note = super().empty_note()
        return f"✗ {note}" if self.error else note

    def more_words(self) -> str:
        """What the status line says of rows that were not read."""
        words = super().more_words()
        return f"the first {MOST_CHOSEN:,}, the oldest first " if self._where and words else words

    def selection_words(self) -> Line:
        """What is marked, and the expression."""
        where = (Cell(f"where {safe(self._where)}  ", Tone.WARN),) if self._where else ()
        return (*super().selection_words(), *where)

    def entry_at(self) -> tuple[str, EntryId] | None:
        """The entry that died, where the letter says which it was."""
        letter = None if self.list.highlighted is None else self.list.highlighted.letter
        if letter is None or letter.origin is None or letter.origin_id is None:
            return None
        return letter.origin, letter.origin_id

    # -- what is acted on ----------------------------------------------------------------------------

    def whole_selection(self) -> Selection:
        """All letters, or all that the expression holds of."""
        return Selection(
            sort=SelectionKind.DEAD_LETTER, stream=self._queue, where=self._where, dead_letters=True
        )

    def whole_words(self) -> str:
        """What is marked then."""
        return "all that match" if self._where else super().whole_words()

    # -- the expression ------------------------------------------------------------------------------

    async def action_where(self) -> None:
        """Ask for an expression."""
        await self.open_prompt(
            Prompt(WHERE, self._where, lambda _: None, self.app_state.typed.get(WHERE, ()))
        )

    def complaint(self, sign: str, text: str) -> str:
        """What is wrong with an expression, or with a filter."""
        if sign != WHERE:
            return super().complaint(sign, text)
        from streamops.model.expressions import DEAD_LETTER_ROOTS, Expression  # noqa: PLC0415 - only who filters so needs it

        try:
            Expression(text, DEAD_LETTER_ROOTS)
        except SettingsError as error:
            return error.message if text.strip() else ""
        return ""

    def entered(self, sign: str, text: str) -> None:
        """Read the letters that it holds of."""
        if sign == WHERE:
            self._read_where(text)

    def cancel(self) -> bool:
        """Take the marks away, drop the filter, then the expression."""
        if super().cancel():
            return True
        if self._where:
            self._read_where("")
            return True
        return False

    def _read_where(self, where: str) -> None:
        self._where, self.read_rows, self.after, self.read_at = where, (), None, None
        self.action_unmark()
        self.place = routes.DeadLetterEntriesRoute(self._queue, where)
        self.reread()
        self.show_body(self.app_state)


OF_QUEUE: Final = tuple(
    column for column in DEAD_LETTER_QUEUE_COLUMNS if column.key not in {"queue", "reasons", "length"}
)
SHOWN_ABOVE: Final = frozenset({"id", "error", "preview", "reason", "queue"})
OF_DEAD_LETTER: Final = tuple(
    column for column in (*DEAD_LETTER_COLUMNS, *DEAD_LETTER_DETAIL_COLUMNS) if column.key not in SHOWN_ABOVE
)
NAMES: Final = {"deliveries": "deliveries", "payload_key": "payload key"}
NO_REASON: Final = "no reason"


def queue_lines(row: QueueRow, width: int) -> list[Line]:
    """A queue in full: how many letters, of what they died, and where they came from."""
    queue = row.queue
    lines = paragraph(safe(queue.queue), width, Tone.STRONG)
    lines += [(Cell(f" {counted(queue.length, 'dead letter', 'dead letters')}"),), BLANK_LINE]
    lines += column_facts(OF_QUEUE, row, width)
    lines += [BLANK_LINE, heading("Reasons")]
    lines += [_share(name, number, queue) for name, number in _reasons(queue)]
    lines += [BLANK_LINE, heading("From")]
    return lines + [_share(name, number, queue) for name, number in _origins(queue)]


def queue_head(queue: QueueSummary | None, width: int) -> list[Line]:
    """What a queue comes to, in three lines: how many, of what they died, where they came from."""
    if queue is None:
        return [(Cell(" summing up", Tone.DIM),)]
    row = QueueRow(queue)
    oldest = (
        f" · oldest {duration(row.oldest_age)}, newest {duration(row.newest_age)}" if queue.length else ""
    )
    source = f" of {safe(queue.source)}" if queue.source else ""
    about = "" if queue.coverage == 1 else f"(of the newest {count(queue.tally.letters)})"
    return [
        (
            Cell(f" {counted(queue.length, 'dead letter', 'dead letters')}", Tone.STRONG),
            Cell(f"{source}{oldest}"),
        ),
        parts_line("Reasons", _parts(_reasons(queue), Tone.WARN), width, note=about),
        parts_line("From", _parts(_origins(queue), Tone.OK), width),
    ]


def dead_letter_lines(row: DeadLetterRow, width: int, *, limit: int = SHOWN_BYTES) -> list[Line]:
    """A letter in full: why it died, where it came from, and the entry's own fields."""
    return [*dead_letter_detail(row, width), BLANK_LINE, *own_fields(entry_of(row), width, limit=limit)]


def dead_letter_detail(row: DeadLetterRow, width: int) -> list[Line]:
    """Why a letter died, and where it came from."""
    letter = row.letter
    lines: list[Line] = [(Cell(f" {letter.id}", Tone.STRONG), Cell(f"  {safe(letter.reason)}", Tone.WARN))]
    if letter.error:
        lines += paragraph(safe(letter.error), width, Tone.CRITICAL, indent=3)
    if letter.problem:
        lines += paragraph(f"▲ {safe(letter.problem)}", width, Tone.WARN, hang=2)
    lines.append(BLANK_LINE)
    return [*lines, *column_facts(OF_DEAD_LETTER, row, width, NAMES)]


def entry_of(row: DeadLetterRow) -> StreamEntry:
    """The entry as it was added; what the dead letter says about itself is not of it."""
    return StreamEntry(row.letter.origin_id or row.letter.id, row.letter.fields)


def _reasons(queue: QueueSummary) -> list[tuple[str, int]]:
    return [(safe(reason) or NO_REASON, number) for reason, number in queue.tally.reasons]


def _origins(queue: QueueSummary) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for kind, number in queue.tally.kinds:
        name = safe(" ▸ ".join(filter(None, (kind.stream, kind.group)))) or "unknown"
        counts[name] = counts.get(name, 0) + number
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _parts(pairs: list[tuple[str, int]], tone: Tone) -> list[ChartPart]:
    return [ChartPart(name, number, tone) for name, number in pairs]


def _share(name: str, number: int, queue: QueueSummary) -> Line:
    share = percent(number / max(1, queue.tally.letters), rounded=True)
    return (Cell(f" {count(number).rjust(9)} {share.rjust(5)}  "), Cell(name))


DEAD_LETTER_LIST: Final = Listing(
    resource=replace(DEAD_LETTERS, columns=COLUMNS),
    hints=("open", "where", "filter", ("mark_all mark_others", "mark all, others"), "sort", "back"),
    leads=lambda row: routes.DeadLetterRoute(row.letter.queue, row.letter.id),
    detail=lambda row, width: dead_letter_lines(row, width, limit=PANE_BYTES),
)
