"""The pending entries of a group, or of one of its consumers."""

from collections.abc import Sequence
from time import monotonic
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from streamops.model.entries import EntryId
from streamops.model.pending import PendingProfile
from streamops.model.wording import counted
from streamops.monitor.search import PendingSummary
from streamops.resources.pending import DELIVERY_BUCKETS, IDLE_BUCKETS, PENDING_ENTRIES, PendingRow
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import duration, percent
from streamops.tui import routes
from streamops.tui.lines.charting import ChartPart, parts_line
from streamops.tui.lines.details import group_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.listing import Listing
from streamops.tui.screens.marking import Marking
from streamops.tui.screens.paging import PAGE, PageOfRows, SummarizedList
from streamops.tui.source import Source
from streamops.tui.widgets.paint import Line
from streamops.tui.widgets.text_view import Builder, no_lines

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


SUM_UP_AGAIN: Final = 10.0
"""Seconds from one summing up to the next."""
MOST_SCANNED: Final = 10_000
"""Pending rows that a distribution is made of: about 30 ms of the server's time."""


PENDING_LIST: Final = Listing(
    resource=PENDING_ENTRIES,
    hints=(("open", "entry"), "trace", "tail", "filter", "sort", ("read_now", "reload"), "back"),
)


class PendingScreen(SummarizedList[PendingRow, EntryId, PendingWhole], Marking[PendingRow]):
    """Pending entries by ID, read again with every observation while one page is shown."""

    place: routes.PendingRoute

    def __init__(self, place: routes.PendingRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, PENDING_LIST)

    def show(self, app_state: AppState) -> None:
        """Read the page again, so that it is no older than the pane; sum up what is beyond it at leisure."""
        newer = app_state.observation is not self.app_state.observation
        super().show(app_state)
        if not newer:
            return
        is_page = len(self.read_rows) <= PAGE
        if is_page and not self.is_reading:
            self.ask_for_page(None)
        if (is_page and self.after is None) or monotonic() - self.summed_at > SUM_UP_AGAIN:
            self.sum_up()

    async def read_page(self, source: Source, after: EntryId | None) -> PageOfRows[PendingRow, EntryId]:
        """Read a page of the group's pending entries, or of the consumer's."""
        stream, group, consumer = astuple(self.place)
        page = await source.read_pending(stream, group, after=after, count=PAGE, consumer=consumer)
        return [PendingRow(entry, page.now) for entry in page.rows], page.next_id

    async def read_summary(self, source: Source) -> PendingWhole:
        """How many are pending, and how they are distributed."""
        stream, group, consumer = astuple(self.place)
        summary = await source.read_pending_summary(stream, group)
        return PendingWhole(summary, await source.scan_pending(stream, group, consumer, limit=MOST_SCANNED))

    def summary_lines(self, summary: PendingWhole | None, width: int) -> Sequence[Line]:
        """The same in a few lines."""
        return pending_head(summary, self.place.consumer, width)

    def nothing(self) -> str:
        """Why nothing is listed."""
        return "no pending entries here"

    def place_of(self, row: PendingRow) -> Route:
        """The entry."""
        here = self.place
        return routes.EntryRoute(
            here.stream, row.entry.id, here.breadcrumbs, group=here.group, consumer=row.entry.consumer
        )

    def about(self) -> Builder:
        """The group, whatever entry the cursor is on."""
        row = self.app_state.find_group(self.place.stream, self.place.group)
        return no_lines if row is None or row.group is None else lambda width: group_lines(row, width)
