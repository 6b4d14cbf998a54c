"""One worker process: the groups that it reads, and how each of them stands."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from streamops.model.observation import GroupView, Health
from streamops.monitor.pools import ServerWorkers
from streamops.resources.cells import NAME_WIDTH, NOT_THERE, count_cell, name_cell
from streamops.resources.groups import GroupRow
from streamops.resources.table import Align, Column
from streamops.resources.units import health_text, lag_text
from streamops.resources.workers import WorkerRow
from streamops.tui import routes
from streamops.tui.polling.app_state import AppState
from streamops.tui.polling.screen_reads import read_workers
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.group import find_group
from streamops.tui.screens.read_listing import ReadListing
from streamops.tui.screens.workers import pools_by_name, worker_lines
from streamops.tui.source import Source
from streamops.tui.widgets.text_view import Builder, no_lines


class ReadingRow(Struct, frozen=True):
    """One group that a worker reads, as it is observed; none where it is not.

    Attributes:
        stream: The stream.
        group: The group.
        consumer: The worker's consumer there.
        seen: The group.
    """

    stream: str
    group: str
    consumer: str
    seen: GroupRow | None

    @property
    def view(self) -> GroupView | None:
        """The group; none where it is not observed."""
        return None if self.seen is None else self.seen.group

    @property
    def pending(self) -> int | None:
        """How many entries the consumer holds; none where that is not known."""
        members = None if self.view is None else self.view.group.members
        return next((one.pending for one in members or () if one.name == self.consumer), None)


def _lag(row: ReadingRow) -> int | None:
    return None if row.view is None else row.view.group.lag.entries


COLUMNS: Final = (
    Column[ReadingRow](
        key="health",
        title="HEALTH",
        help="How the group is.",
        cell=lambda row: NOT_THERE if row.view is None else health_text(row.view.health),
        value=lambda row: None if row.view is None else row.view.health.word,
        rank=lambda row: None if row.view is None else row.view.health,
        width=9,
        priority=0,
        descending=True,
    ),
    Column[ReadingRow](
        key="stream",
        title="STREAM",
        help="The stream that it reads.",
        cell=lambda row: name_cell(row.stream),
        value=lambda row: row.stream,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column[ReadingRow](
        key="group",
        title="GROUP",
        help="For which group.",
        cell=lambda row: name_cell(row.group),
        value=lambda row: row.group,
        width=16,
        flexible=True,
        priority=0,
    ),
    Column[ReadingRow](
        key="pending",
        title="PENDING",
        help="Entries that this worker holds; a dash where its consumer was not observed.",
        cell=lambda row: NOT_THERE if row.pending is None else count_cell(row.pending),
        value=lambda row: row.pending,
        width=8,
        align=Align.RIGHT,
        priority=1,
        descending=True,
    ),
    Column[ReadingRow](
        key="lag",
        title="LAG",
        help="Entries not yet delivered to the group; a dash where it was not observed.",
        cell=lambda row: NOT_THERE if row.view is None else lag_text(row.view.group.lag),
        value=_lag,
        width=9,
        align=Align.RIGHT,
        priority=1,
        descending=True,
    ),
    Column[ReadingRow](
        key="consumer",
        title="CONSUMER",
        help="Its consumer's name there.",
        cell=lambda row: name_cell(row.consumer),
        value=lambda row: row.consumer,
        width=NAME_WIDTH,
        flexible=True,
        priority=2,
    ),
)


class WorkerScreen(ReadListing[ReadingRow]):
    """The groups of a worker; Enter leads to what it holds there."""

    AGAIN = 2.0
    HINTS = (("open", "its pending"), "tail", "filter", "sort", "back")

    def __init__(self, place: routes.WorkerRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, COLUMNS)
        self._worker_place = place
        self._crowd: ServerWorkers | None = None
        self._row: WorkerRow | None = None

    async def read(self, source: Source) -> ServerWorkers:
        """All workers as long as nothing is known, then this one alone."""
        return await read_workers(source, self._crowd)

    def take(self, crowd: ServerWorkers) -> None:
        """Take it; what is known of it stays if its heartbeat is gone."""
        mine = tuple(heart for heart in crowd.workers if heart.id == self._worker_place.worker)
        if mine:
            self._row = WorkerRow(mine[0], crowd.now)
            pools = tuple(pool for pool in crowd.pools if pool.name == mine[0].pool)
            self._crowd = ServerWorkers(mine, crowd.now, pools)
        elif self._row is not None:
            self.error = "its heartbeat is gone: the process ended or cannot reach the server"

    def rows_of(self, app_state: AppState) -> Sequence[ReadingRow]:
        """What it reads, with the groups as they are observed."""
        consumers = () if self._row is None else self._row.heart.consumers
        rows = tuple(
            ReadingRow(stream, group, consumer, find_group(app_state, routes.GroupRoute(stream, group)))
            for stream, group, consumer in consumers
        )
        # The same rows again where nothing changed: the list draws what is new.
        if rows != self.rows:
            self.rows = rows
        return self.rows

    def nothing(self) -> str:
        """Why there is none."""
        return "the worker has no heartbeat" if self._row is None else "it reads nothing"

    def identify(self, row: ReadingRow) -> tuple[str, str]:
        """Stream and group."""
        return row.stream, row.group

    def text_of(self, row: ReadingRow) -> str:
        """Stream and group."""
        return f"{row.stream} {row.group}"

    def is_fault(self, row: ReadingRow) -> bool:
        """Whether the group has a finding."""
        return row.view is not None and row.view.health >= Health.WARN

    def place_of(self, row: ReadingRow) -> Route:
        """What it holds there."""
        return routes.PendingRoute(row.stream, row.group, row.consumer)

    def selection_of(self, place: Route | None) -> Selection | None:
        """The consumer; nothing where there is none."""
        return None if place is None else super().selection_of(place)

    def about(self) -> Builder:
        """The worker in full, whatever group the cursor is on."""
        row = self._row
        if row is None or self._crowd is None:
            return no_lines
        pool = pools_by_name(self._crowd.pools).get(row.heart.pool)
        return lambda width: worker_lines(row, pool, width)

    def name_of(self, row: ReadingRow) -> str:
        """The consumer's name."""
        return row.consumer
