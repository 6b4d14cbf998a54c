"""One worker process: the groups that it reads, and how each of them stands."""

from collections.abc import Sequence
from typing import Final, cast

from msgspec.structs import replace

from streamops.monitor.pools import ServerWorkers
from streamops.resources.workers import WORKER_GROUPS, WorkerGroupRow, WorkerRow
from streamops.tui import routes
from streamops.tui.polling.app_state import AppState
from streamops.tui.polling.screen_reads import read_workers
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.read_listing import Page, ReadList, ReadListing
from streamops.tui.screens.workers import worker_lines, worker_rows
from streamops.tui.source import Source
from streamops.tui.widgets.text_view import Builder, no_lines

GONE: Final = "its heartbeat is gone: the process ended or cannot reach the server"


class WorkerScreen(ReadListing[WorkerGroupRow]):
    """The groups of a worker; Enter leads to what it holds there."""

    def __init__(self, place: routes.WorkerRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, OF_WORKER)
        self._rows: Sequence[WorkerGroupRow] = ()

    @property
    def worker(self) -> WorkerRow | None:
        """The worker, as it was when its heartbeat was there last."""
        crowd: ServerWorkers | None = self.page.whole
        return None if crowd is None else worker_rows(crowd)[0]

    def take(self, page: Page[WorkerGroupRow]) -> None:
        """Show what was read; say where the heartbeat is gone."""
        is_gone = page.whole is not None and page.whole is self.page.whole
        super().take(page)
        if is_gone:
            self.error = GONE
            self.show_bars()

    def rows_of(self, app_state: AppState) -> Sequence[WorkerGroupRow]:
        """What it reads, with the groups as they are observed."""
        worker = self.worker
        rows = tuple(
            WorkerGroupRow(stream, group, consumer, app_state.find_group(stream, group))
            for stream, group, consumer in (() if worker is None else worker.heart.consumers)
        )
        # The same rows again where nothing changed: the list draws what is new.
        if rows != self._rows:
            self._rows = rows
        return self._rows

    def selection_of(self, place: Route | None) -> Selection | None:
        """The consumer; nothing where there is none."""
        return None if place is None else super().selection_of(place)

    def about(self) -> Builder:
        """The worker in full, whatever group the cursor is on."""
        worker = self.worker
        return no_lines if worker is None else lambda width: worker_lines(worker, width)


async def _read(screen: ReadListing[WorkerGroupRow], source: Source) -> Page[WorkerGroupRow]:
    """All workers as long as nothing is known, then this one alone; what is known of it stays if it is gone."""
    crowd = await read_workers(source, screen.page.whole)
    worker = cast("routes.WorkerRoute", screen.place).worker
    mine = tuple(heart for heart in crowd.workers if heart.id == worker)
    if not mine:
        return replace(screen.page, nothing="the worker has no heartbeat")
    pools = tuple(pool for pool in crowd.pools if pool.name == mine[0].pool)
    return Page(nothing="it reads nothing", whole=ServerWorkers(mine, crowd.now, pools))


OF_WORKER: Final = ReadList(
    resource=WORKER_GROUPS,
    hints=(("open", "its pending"), "tail", "filter", "sort", "back"),
    read=_read,
    every=2.0,
    leads=lambda row: routes.PendingRoute(row.stream, row.group, row.consumer),
)
