"""Worker processes by their heartbeats, and their pools: paused or running."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from time import monotonic
from typing import Final, NamedTuple, cast

from msgspec.structs import replace

from streamops.model.observation import StreamView
from streamops.model.pools import Pool, PoolMode
from streamops.model.wording import counted
from streamops.monitor.pools import ServerWorkers
from streamops.operations.autoscale.plan import is_steered
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, duration, percent
from streamops.resources.workers import (
    WORKER_COLUMNS,
    WORKER_DETAIL_COLUMNS,
    WORKER_GROUPS,
    WORKERS,
    WorkerGroupRow,
    WorkerRow,
    unreadable_words,
)
from streamops.tui import routes
from streamops.tui.lines.details import column_facts, heading, paragraph
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection, SelectionKind
from streamops.tui.screens.read_listing import REST, Page, ReadList, ReadListing
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line, cell_width, fit
from streamops.tui.widgets.text_view import Builder, no_lines

LOOK_AGAIN: Final = 30.0
"""Seconds from one pass over all keys to the next; heartbeats that are known are read in between."""


def selection_of_pool(name: str, pool: Pool | None, now: datetime | None) -> Selection:
    """A pool as what is acted on."""
    return Selection(
        sort=SelectionKind.POOL_PAUSED if is_paused(pool) else SelectionKind.POOL,
        pool=name,
        steered=pool is not None and is_steered(pool.steering, now),
    )


MOST_POOLS: Final = 4
LONGEST_NAME: Final = 24
OF_WORKER: Final = (*WORKER_COLUMNS[1:], *WORKER_DETAIL_COLUMNS)


def is_paused(pool: Pool | None) -> bool:
    """Whether the workers of a pool were asked to read nothing more."""
    return pool is not None and pool.mode == PoolMode.PAUSED


def worker_lines(row: WorkerRow, width: int) -> list[Line]:
    """A worker in full, what it reads, and its pool."""
    heart, pool = row.heart, row.pool
    lines = paragraph(safe(heart.id), width, Tone.STRONG)
    lines += column_facts(OF_WORKER, row, width)
    lines += [BLANK_LINE, heading("Reads")]
    for stream, group, consumer in heart.consumers:
        named = "" if consumer == heart.id else f" as {safe(consumer)}"
        lines += paragraph(f"{safe(stream)} ▸ {safe(group)}{named}", width, Tone.PLAIN, hang=2)
    if pool is not None:
        lines += [BLANK_LINE, heading("Pool"), *pool_lines(pool, row.now, width)]
    return lines


def pool_lines(pool: Pool, now: datetime | None, width: int) -> list[Line]:
    """What a pool was told, and what its controller decided last."""
    lines = paragraph(f"{safe(pool.name)} {_mode(pool, now).text}", width, _mode(pool, now).tone)
    if pool.reason and pool.mode:
        lines += paragraph(safe(pool.reason), width, Tone.DIM, indent=3)
    if pool.order is not None:
        by = f", by {safe(pool.order.by)}" if pool.order.by else ""
        lines += paragraph(f"worker count: {count(pool.order.workers)}{by}", width, Tone.PLAIN)
    if pool.last is not None:
        lines += paragraph(f"last decision: {safe(pool.last.text)}", width, Tone.PLAIN, hang=2)
    return lines


def workers_head(page: Page[WorkerRow], app_state: AppState, _width: int = 0) -> list[Line]:
    """The pools, a line each, and consumers of ours whose worker is dead."""
    if page.whole is None:
        return [(Cell(" reading heartbeats", Tone.DIM),)]
    crowd = page.whole.found
    shown = crowd.pools[:MOST_POOLS]
    widest = min(max((cell_width(safe(pool.name)) for pool in shown), default=0), LONGEST_NAME)
    lines = [_pool_line(pool, crowd, widest) for pool in shown]
    if len(crowd.pools) > MOST_POOLS:
        lines.append((Cell(f" {len(crowd.pools) - MOST_POOLS} more pools", Tone.DIM),))
    dead, held = _dead(app_state.observed)
    if dead:
        who = counted(dead, "consumer", "consumers")
        what = counted(held, "entry", "entries")
        text = (
            f" ▲ {who} of streamops workers without a heartbeat own {what}: a worker of the group claims them"
        )
        lines.append((Cell(text, Tone.WARN),))
    return lines or [(Cell(" no pool has been paused or scaled yet", Tone.DIM),)]


def _pool_line(pool: Pool, crowd: ServerWorkers, name_width: int) -> Line:
    hearts = [heart for heart in crowd.workers if heart.pool == pool.name]
    busy, slots = sum(heart.busy for heart in hearts), sum(heart.slots for heart in hearts)
    share = percent(busy / slots, rounded=True) if slots else ""
    told = "" if pool.order is None else f", worker count {count(pool.order.workers)}"
    workers = counted(len(hearts), "worker", "workers") if hearts else "no workers"
    return (
        Cell(f" {fit(safe(pool.name), name_width)}  ", Tone.STRONG),
        _mode(pool, crowd.now),
        Cell(f"  {workers}{told}", Tone.PLAIN if hearts else Tone.WARN),
        Cell(f"  busy {busy}/{slots} {share}" if slots else "", Tone.DIM),
    )


def _mode(pool: Pool, now: datetime | None) -> Cell:
    if pool.problem:
        return Cell("? unknown", Tone.WARN)
    if not is_paused(pool):
        return Cell("✓ running", Tone.OK)
    by = f" by {safe(pool.updated_by)}" if pool.updated_by else ""
    since = (
        ""
        if now is None or pool.updated_at is None
        else f" {duration(max(now - pool.updated_at, now - now))} ago"
    )
    return Cell(f"‖ paused{by}{since}", Tone.WARN)


def _dead(streams: Iterable[StreamView]) -> tuple[int, int]:
    """Consumers of ours without a heartbeat that hold entries, and how many those are."""
    dead = [
        member.pending
        for view in streams
        for group in view.groups
        for member in group.group.members or ()
        if member.alive is False and member.pending
    ]
    return len(dead), sum(dead)


SHARE: Final = 0.25
"""Share of the time that going through all keys may keep a node busy."""


async def read_workers(source: Source, known: ServerWorkers | None = None) -> ServerWorkers:
    """Workers and pools: those of ``known`` again, else all there are, which goes through all keys."""
    return await (source.workers.with_pools(SHARE) if known is None else source.workers.again(known))


class Found(NamedTuple):
    """The workers that are known.

    Attributes:
        found: The workers and pools.
        look_at: When to go through all keys again, on the monotonic clock.
    """

    found: ServerWorkers
    look_at: float


async def _read(screen: ReadListing[WorkerRow], source: Source) -> Page[WorkerRow]:
    """All workers; those that are known, unless all were asked for or it is time to look for others."""
    known: Found | None = screen.page.whole
    began = monotonic()
    if known is None or screen.is_afresh or began >= known.look_at:
        crowd = await read_workers(source)
        now = monotonic()
        look_at = now + max(LOOK_AGAIN, (now - began) * REST)
    else:
        crowd, look_at = await read_workers(source, known.found), known.look_at
    return Page(rows=worker_rows(crowd), nothing=_why_none(crowd), whole=Found(crowd, look_at))


def worker_rows(crowd: ServerWorkers) -> tuple[WorkerRow, ...]:
    """A row a worker, each with its pool."""
    pools = {pool.name: pool for pool in crowd.pools}
    return tuple(WorkerRow(heart, crowd.now, pools.get(heart.pool)) for heart in crowd.workers)


def _why_none(crowd: ServerWorkers) -> str:
    if crowd.unreadable:
        return unreadable_words(crowd.unreadable)
    return "no streamops workers here; other clients do not report, groups list their consumers (3)"


WORKER_LIST: Final = ReadList(
    resource=WORKERS,
    hints=(("open", "what it reads"), ("workers", "pools"), "filter", "faults", "sort", "back"),
    read=_read,
    every=2.0,
    head=workers_head,
    leads=lambda row: routes.WorkerRoute(row.heart.id, row.heart.pool),
    selects=lambda row: selection_of_pool(row.heart.pool, row.pool, row.now),
    stream=lambda row: row.heart.consumers[0][0] if row.heart.consumers else None,
    detail=worker_lines,
)


GONE: Final = "its heartbeat is gone: the process ended or cannot reach the server"


class WorkerScreen(ReadListing[WorkerGroupRow]):
    """The groups of a worker; Enter leads to what it holds there."""

    def __init__(self, place: routes.WorkerRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, READS_LIST)
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
        """The consumer; nothing if there is none."""
        return None if place is None else super().selection_of(place)

    def about(self) -> Builder:
        """The worker in full, whatever group the cursor is on."""
        worker = self.worker
        return no_lines if worker is None else lambda width: worker_lines(worker, width)


async def _read_one(screen: ReadListing[WorkerGroupRow], source: Source) -> Page[WorkerGroupRow]:
    """All workers as long as nothing is known, then this one alone; what is known of it stays if it is gone."""
    crowd = await read_workers(source, screen.page.whole)
    worker = cast("routes.WorkerRoute", screen.place).worker
    mine = tuple(heart for heart in crowd.workers if heart.id == worker)
    if not mine:
        return replace(screen.page, nothing="the worker has no heartbeat")
    pools = tuple(pool for pool in crowd.pools if pool.name == mine[0].pool)
    return Page(nothing="it reads no streams", whole=ServerWorkers(mine, crowd.now, pools))


READS_LIST: Final = ReadList(
    resource=WORKER_GROUPS,
    hints=(("open", "its pending"), "tail", "filter", "sort", "back"),
    read=_read_one,
    every=2.0,
    leads=lambda row: routes.PendingRoute(row.stream, row.group, row.consumer),
)
