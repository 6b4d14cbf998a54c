"""The pending entries of a group, or of one of its consumers."""

from collections.abc import Iterable, Sequence
from functools import partial
from time import monotonic
from typing import Final

from msgspec import Struct
from textual.widget import Widget

from streamops.errors import StreamopsError
from streamops.model.entries import EntryId
from streamops.model.pending import PendingProfile
from streamops.model.wording import counted
from streamops.monitor.search import PendingPage, PendingSummary
from streamops.resources.pending import DELIVERY_BUCKETS, IDLE_BUCKETS, PENDING_ENTRIES, PendingRow
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import duration, percent
from streamops.tui import routes
from streamops.tui.lines import words
from streamops.tui.lines.charting import ChartPart, parts_line
from streamops.tui.lines.details import group_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.listing import Listing
from streamops.tui.screens.marking import Marking
from streamops.tui.source import Source
from streamops.tui.widgets.paint import Line
from streamops.tui.widgets.text_view import Builder, Head, no_lines

LONG_IDLE: Final = 3
"""From this bucket on, idle entries are worth a warning: more than a minute."""
OFTEN: Final = 2
"""From this bucket on, deliveries are: more than two."""


class PendingWhole(Struct, frozen=True):
    """A group's pending entries as a whole.

    Attributes:
        summary: How many, and whose.
        profile: How long idle and how often delivered, from a bounded number of rows; none if none is pending.
    """

    summary: PendingSummary
    profile: PendingProfile | None


def pending_head(whole: PendingWhole | None, consumer: str | None, width: int) -> list[Line]:
    """How many are pending, and how they are distributed.

    Args:
        whole: What was read; none while that is under way.
        consumer: The consumer whose entries are listed; none for all.
        width: Cells there are.
    """
    if whole is None:
        return [(Cell(" summing up", Tone.DIM),)]
    summary, profile = whole.summary, whole.profile
    owners = sorted(summary.consumers, key=lambda owner: -owner[1])
    lines = [_whole(whole, consumer)]
    if profile is not None:
        lines += [
            parts_line("Idle", _idle(profile), width),
            parts_line("Deliveries", _deliveries(profile), width),
        ]
    if owners and consumer is None:
        lines.append(parts_line("Owners", [_owner(*owner, of=summary.pending) for owner in owners], width))
    return lines


def _whole(whole: PendingWhole, consumer: str | None) -> Line:
    summary, profile = whole.summary, whole.profile
    pending = summary.pending if consumer is None else dict(summary.consumers).get(consumer, 0)
    cells = [Cell(f" {counted(pending, 'pending entry', 'pending entries')}", Tone.STRONG)]
    if consumer is not None:
        cells.append(Cell(f" of {safe(consumer)}, {summary.pending:,} in the group"))
    if profile is not None and profile.longest_idle is not None:
        cells.append(Cell(f" · longest idle {duration(profile.longest_idle.idle)}", Tone.DIM))
    if profile is not None and profile.free:
        cells.append(Cell(f" · {profile.free:,} free for any consumer", Tone.DIM))
    if profile is not None and profile.coverage < 1:
        seen = f" · {percent(profile.coverage)} scanned, the oldest"
        cells.append(Cell(seen, Tone.UNKNOWN))
    elif profile is not None and profile.scanned != pending:
        cells.append(Cell(f" · {profile.scanned:,} a moment later", Tone.DIM))
    return tuple(cells)


def _idle(profile: PendingProfile) -> Sequence[ChartPart]:
    return _buckets(IDLE_BUCKETS, profile.idle_buckets, LONG_IDLE)


def _deliveries(profile: PendingProfile) -> Sequence[ChartPart]:
    return _buckets(DELIVERY_BUCKETS, profile.delivery_buckets, OFTEN)


def _buckets(names: Sequence[str], numbers: Sequence[int], warn_from: int) -> Sequence[ChartPart]:
    return [
        ChartPart(name, number, Tone.WARN if at >= warn_from else Tone.OK)
        for at, (name, number) in enumerate(zip(names, numbers, strict=True))
    ]


def _owner(name: str, pending: int, *, of: int) -> ChartPart:
    return ChartPart(f"{safe(name)} {percent(pending / of, rounded=True) if of else ''}".rstrip(), pending)


AHEAD: Final = 20
SUM_UP_AGAIN: Final = 10.0
"""Seconds from one summing up to the next."""


PAGE: Final = 100
MOST_SCANNED: Final = 10_000
"""Pending rows that a distribution is made of: about 30 ms of the server's time."""


PENDING_LIST: Final = Listing(
    resource=PENDING_ENTRIES,
    hints=(("open", "entry"), "trace", "tail", "filter", "sort", ("read_now", "reload"), "back"),
)


class PendingScreen(Marking[PendingRow]):
    """Pending entries by ID, read again with every observation while one page is shown.

    The next page is read when the cursor nears the end; from then on ``r`` begins again.
    """

    def __init__(self, place: routes.PendingRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, PENDING_LIST)
        self.pending_place = place
        self._rows: tuple[PendingRow, ...] = ()
        self._next: EntryId | None = None
        self._asked = False
        self._read_at: float | None = None
        self._error = ""
        self._summed_at = 0.0
        self._head = Head(id="head")

    def compose_body(self) -> Iterable[Widget]:
        """What all of it comes to, the list and the pane."""
        yield self._head
        yield from super().compose_body()

    def on_mount(self) -> None:
        """Read the first page, and what all of it comes to."""
        self._note_whole(None)
        self.reread()

    def reread(self) -> None:
        """Begin again with the first page; the rows shown stay until it is there."""
        self._ask(None)
        self._sum_up()

    def show(self, app_state: AppState) -> None:
        """Read the page again, so that it is no older than the pane; sum up what is beyond it at leisure."""
        newer = app_state.observation is not self.app_state.observation
        super().show(app_state)
        if not newer:
            return
        is_page = len(self._rows) <= PAGE
        if is_page and not self._asked:
            self._ask(None)
        if (is_page and self._next is None) or monotonic() - self._summed_at > SUM_UP_AGAIN:
            self._sum_up()

    def _take(self, after: EntryId | None, page: PendingPage) -> None:
        rows = tuple(PendingRow(entry, page.now) for entry in page.rows)
        first = after is None
        self._rows = rows if first else (*self._rows, *rows)
        self._next, self._asked, self._error = page.next_id, False, ""
        self._read_at = monotonic() if first else self._read_at
        self.show_body(self.app_state)

    def unread(self, error: StreamopsError) -> None:
        """Say why there is no page."""
        self._asked, self._error = False, safe(words.error_text(error))
        self.show_body(self.app_state)

    def _lack_whole(self, error: StreamopsError) -> None:
        reason = safe(words.error_text(error))
        self._head.show(lambda _: [(Cell(f" ✗ {reason}", Tone.CRITICAL),)])

    def on_line_view_highlighted(self) -> None:
        """Read on where the cursor nears the end."""
        near = self.list.cursor >= len(self.list.rows) - AHEAD
        if near and self._next is not None and not self._asked:
            self._ask(self._next)

    def rows_of(self, app_state: AppState) -> Sequence[PendingRow]:
        """What was read so far."""
        del app_state
        return self._rows

    def place_of(self, row: PendingRow) -> Route:
        """The entry."""
        here = self.pending_place
        return routes.EntryRoute(
            here.stream, row.entry.id, here.breadcrumbs, group=here.group, consumer=row.entry.consumer
        )

    def about(self) -> Builder:
        """The group, whatever entry the cursor is on."""
        row = self.app_state.find_group(self.pending_place.stream, self.pending_place.group)
        return no_lines if row is None or row.group is None else lambda width: group_lines(row, width)

    def empty_note(self) -> str:
        """Why nothing is listed."""
        if self._error:
            return self._error
        return "reading" if self._read_at is None else "no pending entries here"

    def position_words(self) -> Line:
        """The cursor, whether there is more, and how old the list is."""
        more = Cell("and more ", Tone.DIM) if self._next is not None else Cell("")
        failed = Cell(f"{self._error}  ", Tone.CRITICAL) if self._error and self._rows else Cell("")
        return (
            failed,
            *words.read_age(self._read_at),
            *words.position(self.list.cursor, len(self.list.rows)),
            more,
        )

    def _ask(self, after: EntryId | None) -> None:
        self._asked = True
        place = self.pending_place
        self.fetch(
            lambda source: source.read_pending(
                place.stream, place.group, after=after, count=PAGE, consumer=place.consumer
            ),
            partial(self._take, after),
        )

    def _sum_up(self) -> None:
        self._summed_at = monotonic()
        self.fetch(self._read_whole, self._note_whole, self._lack_whole)

    async def _read_whole(self, source: Source) -> PendingWhole:
        stream, group = self.pending_place.stream, self.pending_place.group
        summary = await source.read_pending_summary(stream, group)
        consumer = self.pending_place.consumer
        profile = await source.scan_pending(stream, group, consumer, limit=MOST_SCANNED)
        return PendingWhole(summary, profile)

    def _note_whole(self, whole: PendingWhole | None) -> None:
        consumer = self.pending_place.consumer
        self._head.show(lambda width: pending_head(whole, consumer, width))
