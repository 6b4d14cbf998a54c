"""Worker processes by their heartbeats, and their pools: paused or running."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import Final

from textual.widget import Widget

from streamops.model.observation import Observation
from streamops.model.pools import Pool, PoolMode, WorkerState
from streamops.model.wording import counted
from streamops.monitor.pools import ServerWorkers
from streamops.operations.autoscale.plan import is_steered
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, duration, percent
from streamops.resources.workers import WORKER_COLUMNS, WORKER_DETAIL_COLUMNS, WorkerRow, unreadable_words
from streamops.tui import routes
from streamops.tui.lines.details import paragraph
from streamops.tui.lines.row_facts import column_facts
from streamops.tui.polling.app_state import AppState
from streamops.tui.polling.screen_reads import read_workers
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection, SelectionKind
from streamops.tui.screens.read_listing import REST, ReadListing
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line, cell_width, fit
from streamops.tui.widgets.text_view import Builder, Head

LOOK_AGAIN: Final = 30.0
"""Seconds from one pass over all keys to the next; heartbeats that are known are read in between."""
READS: Final = Column[WorkerRow](
    key="reads",
    title="READS",
    help="The streams and groups that it reads.",
    cell=lambda row: Cell(reads_words(row.heart.consumers)),
    value=lambda row: reads_words(row.heart.consumers),
    width=16,
    flexible=True,
    priority=2,
)
COLUMNS: Final = (*WORKER_COLUMNS[:5], READS, *WORKER_COLUMNS[5:])


class WorkersScreen(ReadListing[WorkerRow]):
    """The workers, and above them the pools; Enter leads to what a worker reads."""

    AGAIN = 2.0
    HINTS = (
        ("open", "what it reads"),
        ("workers", "pools"),
        "filter",
        "faults",
        "sort",
        "back",
    )

    def __init__(self, place: routes.WorkersRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, COLUMNS, WORKER_DETAIL_COLUMNS)
        self._crowd: ServerWorkers | None = None
        self._pools: Mapping[str, Pool] = {}
        self._look_at = 0.0
        self._head = Head(id="head")

    def compose_body(self) -> Iterable[Widget]:
        """The pools, the list and the pane."""
        yield self._head
        yield from super().compose_body()

    async def read(self, source: Source) -> ServerWorkers:
        """All there are."""
        began = monotonic()
        crowd = await read_workers(source)
        now = monotonic()
        self._look_at = now + max(LOOK_AGAIN, (now - began) * REST)
        return crowd

    async def read_again(self, source: Source) -> ServerWorkers:
        """Those that are known, unless it is time to look for others."""
        if self._crowd is None or monotonic() >= self._look_at:
            return await self.read(source)
        return await read_workers(source, self._crowd)

    def take(self, crowd: ServerWorkers) -> None:
        """Take them."""
        self._crowd = crowd
        self._pools = pools_by_name(crowd.pools)
        self.rows = tuple(WorkerRow(heart, crowd.now) for heart in crowd.workers)

    def show_body(self, app_state: AppState) -> None:
        """Show the workers, and their pools above."""
        super().show_body(app_state)
        crowd, observation = self._crowd, app_state.observation
        self._head.show(lambda _: workers_head(crowd, observation))

    def nothing(self) -> str:
        """Why there is none."""
        if self._crowd is not None and self._crowd.unreadable:
            return unreadable_words(self._crowd.unreadable)
        return "no streamops workers here; other clients do not report, groups list their consumers (3)"

    def identify(self, row: WorkerRow) -> str:
        """The worker's ID."""
        return row.heart.id

    def text_of(self, row: WorkerRow) -> str:
        """What it is, where it runs, and what it reads."""
        heart = row.heart
        reads = (part for consumer in heart.consumers for part in consumer[:2])
        return " ".join([heart.id, heart.pool, heart.state, heart.app, heart.host, *reads])

    def is_fault(self, row: WorkerRow) -> bool:
        """Whether it does anything but run."""
        return row.heart.state is not WorkerState.RUNNING

    def place_of(self, row: WorkerRow) -> Route:
        """What it reads."""
        return routes.WorkerRoute(row.heart.id, row.heart.pool)

    def selection(self) -> Selection | None:
        """Its pool."""
        row = self.list.highlighted
        return None if row is None else selection_of_pool(row.heart.pool, self._pools, row.now)

    def stream_name(self) -> str | None:
        """The first stream that it reads."""
        row = self.list.highlighted
        return row.heart.consumers[0][0] if row is not None and row.heart.consumers else None

    def detail(self, row: WorkerRow) -> Builder:
        """The worker in full."""
        pool = self._pools.get(row.heart.pool)
        return lambda width: worker_lines(row, pool, width)

    def name_of(self, row: WorkerRow) -> str:
        """Its ID."""
        return row.heart.id


def selection_of_pool(name: str, pools: Mapping[str, Pool], now: datetime | None) -> Selection:
    """A pool as what is acted on."""
    pool = pools.get(name)
    return Selection(
        sort=SelectionKind.POOL_PAUSED if is_paused(pool) else SelectionKind.POOL,
        pool=name,
        steered=pool is not None and is_steered(pool.steering, now),
    )


MOST_POOLS: Final = 4
LONGEST_NAME: Final = 24
OF_WORKER: Final = (*WORKER_COLUMNS[1:], *WORKER_DETAIL_COLUMNS)


def is_paused(pool: Pool | None) -> bool:
    """Whether the workers of a pool were told to read nothing more."""
    return pool is not None and pool.mode == PoolMode.PAUSED


def worker_lines(row: WorkerRow, pool: Pool | None, width: int) -> list[Line]:
    """A worker in full, what it reads, and its pool."""
    heart = row.heart
    lines = paragraph(safe(heart.id), width, Tone.STRONG)
    lines += column_facts(OF_WORKER, row, width)
    lines += [BLANK_LINE, (Cell(" Reads", Tone.STRONG),)]
    for stream, group, consumer in heart.consumers:
        named = "" if consumer == heart.id else f" as {safe(consumer)}"
        lines += paragraph(f"{safe(stream)} ▸ {safe(group)}{named}", width, Tone.PLAIN, hang=2)
    if pool is not None:
        lines += [BLANK_LINE, (Cell(" Pool", Tone.STRONG),), *pool_lines(pool, row.now, width)]
    return lines


def pool_lines(pool: Pool, now: datetime | None, width: int) -> list[Line]:
    """What a pool was told, and what its controller decided last."""
    lines = paragraph(f"{safe(pool.name)} {_mode(pool, now).text}", width, _mode(pool, now).tone)
    if pool.reason and pool.mode:
        lines += paragraph(safe(pool.reason), width, Tone.DIM, indent=3)
    if pool.order is not None:
        by = f", by {safe(pool.order.by)}" if pool.order.by else ""
        lines += paragraph(
            f"desired: {counted(pool.order.workers, 'worker', 'workers')}{by}", width, Tone.PLAIN
        )
    if pool.last is not None:
        lines += paragraph(f"last decision: {safe(pool.last.text)}", width, Tone.PLAIN, hang=2)
    return lines


def workers_head(crowd: ServerWorkers | None, observation: Observation | None) -> list[Line]:
    """The pools, a line each, and consumers of ours whose worker is dead."""
    if crowd is None:
        return [(Cell(" looking for heartbeats", Tone.DIM),)]
    shown = crowd.pools[:MOST_POOLS]
    widest = min(max((cell_width(safe(pool.name)) for pool in shown), default=0), LONGEST_NAME)
    lines = [_pool_line(pool, crowd, widest) for pool in shown]
    if len(crowd.pools) > MOST_POOLS:
        lines.append((Cell(f" {len(crowd.pools) - MOST_POOLS} more pools", Tone.DIM),))
    dead, held = _dead(observation)
    if dead:
        who = counted(dead, "consumer", "consumers")
        what = counted(held, "entry", "entries")
        text = f" ▲ {who} of streamops without a heartbeat hold {what}: a worker of the group claims them"
        lines.append((Cell(text, Tone.WARN),))
    return lines or [(Cell(" no pool has been paused or scaled", Tone.DIM),)]


def reads_words(consumers: Sequence[tuple[str, str, str]]) -> str:
    """What a worker reads, in a few words."""
    pairs = [f"{safe(stream)} ▸ {safe(group)}" for stream, group, _ in consumers]
    return pairs[0] + (f" +{len(pairs) - 1}" if len(pairs) > 1 else "") if pairs else "nothing"


def pools_by_name(pools: Iterable[Pool]) -> Mapping[str, Pool]:
    """Pools by their names."""
    return {pool.name: pool for pool in pools}


def _pool_line(pool: Pool, crowd: ServerWorkers, name_width: int) -> Line:
    hearts = [heart for heart in crowd.workers if heart.pool == pool.name]
    busy, slots = sum(heart.busy for heart in hearts), sum(heart.slots for heart in hearts)
    share = percent(busy / slots, rounded=True) if slots else ""
    told = "" if pool.order is None else f", {count(pool.order.workers)} desired"
    workers = counted(len(hearts), "worker", "workers") if hearts else "no workers"
    return (
        Cell(f" {fit(safe(pool.name), name_width)}  ", Tone.STRONG),
        _mode(pool, crowd.now),
        Cell(f"  {workers}{told}", Tone.PLAIN if hearts else Tone.WARN),
        Cell(f"  busy {busy}/{slots} {share}" if slots else "", Tone.DIM),
    )


def _mode(pool: Pool, now: datetime | None) -> Cell:
    if pool.problem:
        return Cell("? not known", Tone.WARN)
    if not is_paused(pool):
        return Cell("✓ running", Tone.OK)
    by = f" by {safe(pool.updated_by)}" if pool.updated_by else ""
    since = (
        ""
        if now is None or pool.updated_at is None
        else f" {duration(max(now - pool.updated_at, now - now))} ago"
    )
    return Cell(f"‖ paused{by}{since}", Tone.WARN)


def _dead(observation: Observation | None) -> tuple[int, int]:
    """Consumers of ours without a heartbeat that hold entries, and how many those are."""
    dead = [
        member.pending
        for view in (() if observation is None else observation.streams)
        for group in view.groups
        for member in group.group.members or ()
        if member.alive is False and member.pending
    ]
    return len(dead), sum(dead)
