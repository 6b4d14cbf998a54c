"""The root: every stream with every group."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace

from streamops.model.observation import StreamView
from streamops.model.streams import StreamRole
from streamops.resources.groups import (
    GROUP_COLUMNS,
    GROUP_DETAIL_COLUMNS,
    GROUPS,
    GroupRow,
    group_rows,
    has_fault,
    worst_first,
)
from streamops.resources.streams import asked_for_alone
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.resources.units import LEAST_LAG, common_top, compact, greatest, health_text, spark
from streamops.tui import routes
from streamops.tui.lines.charting import total_count, total_rate
from streamops.tui.lines.details import brief_lines, group_lines, server_lines
from streamops.tui.lines.words import why_empty
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.ordering import PerItemCache
from streamops.tui.rows.selection import Selection, selection_at
from streamops.tui.screens.listing import Listing, ListScreen
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import Builder


def _reason(row: GroupRow) -> Cell:
    """The worst finding in words; how many more there are before it, if it may be cut."""
    findings = row.stream.findings if row.group is None else row.group.findings
    if not findings:
        return Cell("")
    more = f" (+{len(findings) - 1})" if len(findings) > 1 else ""
    worst = findings[0]
    return Cell(f"{worst.code.replace('_', ' ')}{more}: {safe(worst.text)}", health_text(worst.level).tone)


def _greatest_lag(row: GroupRow) -> int:
    return 0 if row.group is None else greatest(row.group.trend[-TREND_WIDTH:])


# Beside the pane, which tells everything, the table keeps what moves.
TREND_WIDTH: Final = 8
PRIORITIES: Final = {
    "oldest_pending_idle_seconds": 1, "time_lag_seconds": 2, "trend": 2, "consumers": 4, "length": 4,
}  # fmt: skip
AS_WIDE_AS_TEXT: Final = frozenset(
    {"health", "lag", "pending", "oldest_pending_age_seconds", "oldest_pending_idle_seconds"}
)
"""Columns that leave to the reason what their texts do not need."""
REASON_WIDTH: Final = 14
REASON_WISHES: Final = 56
REASON_HELP: Final = "The worst finding in a sentence; (+1) if there is one more, which the pane shows."


TREND_HELP: Final = (
    "The lag over the last readings, oldest left, from zero on, on one scale for all rows: "
    "a full bar is the greatest lag of the list, 10 at least. A blank if the lag was unknown."
)


def _columns(trend: Callable[[GroupRow], Cell]) -> Iterator[Column[GroupRow]]:
    """Those of a group, with the reason beside its health, where no width cuts it off, and the trend beside its lag."""
    for column in GROUP_COLUMNS:
        if column.sparse or column.key in {"findings", "trend"}:
            continue
        yield replace(
            column,
            priority=PRIORITIES.get(column.key, column.priority),
            flexible=column.flexible or column.key in AS_WIDE_AS_TEXT,
        )
        if column.key == "health":
            yield replace(
                _named("findings"), title="REASON", help=REASON_HELP, cell=_reason, width=REASON_WIDTH,
                wishes=REASON_WISHES, priority=0,
            )  # fmt: skip
        if column.key == "lag":
            yield replace(
                _named("trend"), help=TREND_HELP, cell=trend, width=TREND_WIDTH, priority=PRIORITIES["trend"]
            )


def _named(key: str) -> Column[GroupRow]:
    return next(column for column in GROUP_COLUMNS if column.key == key)


MORE_COLUMNS: Final = (*(column for column in GROUP_COLUMNS if column.sparse), *GROUP_DETAIL_COLUMNS)


def place_of(row: GroupRow) -> Route:
    """The group, or the stream if it has none; the letters of a dead-letter queue."""
    stream = row.stream.stream.name
    if row.group is not None:
        return routes.GroupRoute(stream, row.group.group.name)
    dead = row.stream.stream.role is StreamRole.DEAD_LETTERS
    return routes.DeadLetterEntriesRoute(stream) if dead else routes.StreamRoute(stream)


class GroupListing(ListScreen[GroupRow]):
    """A list of groups of some streams."""

    has_brief = True
    hides_own: ClassVar[bool] = False
    """Whether streams that are shown only if asked for are left out."""

    def __init__(self, place: Route, app_state: AppState) -> None:
        resource = replace(GROUPS, columns=tuple(_columns(self._trend)), more=MORE_COLUMNS)
        listing = Listing(
            resource=resource, hints=self.HINTS, empty=why_empty, leads=place_of, detail=group_lines
        )
        super().__init__(place, app_state, listing)
        self._trend_top = LEAST_LAG
        self._faults = PerItemCache[GroupRow, bool](has_fault)
        self._greatest_lags = PerItemCache[GroupRow, int](_greatest_lag)
        self._rows_of_stream = PerItemCache[StreamView, tuple[GroupRow, ...]](
            lambda stream: () if self.hides_own and asked_for_alone(stream) else group_rows((stream,))
        )
        self._flat: tuple[Sequence[StreamView], Sequence[GroupRow]] = ((), ())

    def streams_of(self, app_state: AppState) -> Sequence[StreamView]:
        """The streams whose groups are listed, retry streams with the groups that they belong to."""
        return app_state.streams

    def rows_of(self, app_state: AppState) -> Sequence[GroupRow]:
        """One row a group; streams that did not change keep their rows."""
        streams = self.streams_of(app_state)
        if streams is not self._flat[0]:
            rows = self._rows_of_stream.values(streams)
            self._flat = (streams, self.in_order([row for of_stream in rows for row in of_stream]))
            self._scale_trends(self._flat[1])
        return self._flat[1]

    def _scale_trends(self, rows: Sequence[GroupRow]) -> None:
        """Draw all trends on the scale of the greatest lag; rows that did not change are drawn again where it does."""
        top = max(common_top(max(self._greatest_lags.values(rows), default=0)), LEAST_LAG)
        if top != self._trend_top:
            self._trend_top = top
            self.list.redraw()

    def _trend(self, row: GroupRow) -> Cell:
        # Short and without weight: many bold lines of it would outshine every state.
        line = "" if row.group is None else spark(row.group.trend, TREND_WIDTH, self._trend_top)
        return Cell(line, Tone.DIM)

    def in_order(self, rows: list[GroupRow]) -> list[GroupRow]:
        """The rows in the order that holds while nothing is sorted by."""
        return rows

    def selection(self) -> Selection | None:
        """The group, or the stream if it has none."""
        row = self.list.highlighted
        if row is None:
            return super().selection()
        return selection_at(place_of(row), dead_letters=row.stream.stream.role is StreamRole.DEAD_LETTERS)

    def brief(self, row: GroupRow) -> Builder:
        """What was found, else its first numbers."""
        return lambda width: brief_lines(row, width)


class StatusScreen(GroupListing):
    """All streams and groups; the pane tells the server's findings too."""

    hides_own = True
    HINTS = (
        "open",
        "tail",
        "filter",
        "faults",
        "sort",
        "streams",
    )

    def detail(self, row: GroupRow) -> Builder:
        """The group in full, then what concerns the server."""
        observation = self.app_state.observation

        def build(width: int) -> list[Line]:
            lines = group_lines(row, width)
            return lines if observation is None else [*lines, *server_lines(observation, width)]

        return build

    def in_order(self, rows: list[GroupRow]) -> list[GroupRow]:
        """Faults first, the worst and those with the greatest lag on top; the others as they come."""
        return worst_first(rows, self._faults.values(rows))

    def selection_words(self) -> Line:
        """The filter; without one, what all of them add up to."""
        return super().selection_words() or totals_words(self.app_state)


def totals_words(app_state: AppState) -> Line:
    """Lag, pending entries, dead letters and rates of all groups together; nothing while what is shown is older than they are."""
    past = app_state.past
    if past is None or app_state.frozen or app_state.loss is not None:
        return BLANK_LINE
    totals = past.totals
    letters = (f"dead letters {compact(totals.letters)}",) if totals.letters else ()
    words = (
        f"lag {total_count(totals.waiting, totals.untold_lags)}",
        f"pending {compact(totals.pending)}",
        *letters,
        f"delivered {total_rate(totals.delivered, totals.groups, totals.untold_rates)}",
        f"acked {total_rate(totals.acked, totals.groups, totals.untold_rates)}",
    )
    return (Cell(f"{' · '.join(words)} ", Tone.DIM),)


class StreamScreen(GroupListing):
    """The groups of one stream."""

    HINTS = ("open", "tail", "filter", "sort", "back")

    def __init__(self, place: routes.StreamRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._stream = place.stream
        self._found: tuple[StreamView, ...] = ()

    def streams_of(self, app_state: AppState) -> Sequence[StreamView]:
        """The one stream, the same tuple while it did not change; None if it is gone."""
        found = app_state.find_stream(self._stream)
        if found is None:
            self._found = ()
        elif not self._found or self._found[0] is not found:
            self._found = (found,)
        return self._found

    def empty_note(self) -> str:
        """Why there is nothing."""
        return self.app_state.missing(f"stream {safe(self._stream)}")
