"""Worker processes by their heartbeats, and their pools: paused or running."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from time import monotonic
from typing import Final

from textual.widget import Widget

from streamops.model.pools import Pool
from streamops.model.workers import WorkerState
from streamops.monitor.workers import Crowd
from streamops.operations.autoscale.plan import is_steered
from streamops.present.columns.workers import WORKER_COLUMNS, WORKER_DETAIL_COLUMNS
from streamops.present.table import Cell, Column
from streamops.present.workers import WorkerRow, unreadable_words
from streamops.tui import places
from streamops.tui.beside.reads import read_crowd
from streamops.tui.beside.worker_lines import (
    crowd_head,
    is_paused,
    pools_by_name,
    reads_words,
    worker_lines,
)
from streamops.tui.head import Head
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.read_listing import REST, ReadListing
from streamops.tui.source import Source
from streamops.tui.subjects import Sort, Subject
from streamops.tui.text_view import Builder

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
        ("enter", "what it reads"),
        ("5", "pools"),
        ("/", "filter"),
        ("f", "faults"),
        ("o i", "sort"),
        ("esc", "back"),
    )

    def __init__(self, place: places.Workers, moment: Moment) -> None:
        super().__init__(place, moment, COLUMNS, WORKER_DETAIL_COLUMNS)
        self._crowd: Crowd | None = None
        self._pools: Mapping[str, Pool] = {}
        self._look_at = 0.0
        self._head = Head(id="head")

    def compose_body(self) -> Iterable[Widget]:
        """The pools, the list and the pane."""
        yield self._head
        yield from super().compose_body()

    async def read(self, source: Source) -> Crowd:
        """All there are."""
        began = monotonic()
        crowd = await read_crowd(source)
        now = monotonic()
        self._look_at = now + max(LOOK_AGAIN, (now - began) * REST)
        return crowd

    async def read_again(self, source: Source) -> Crowd:
        """Those that are known, unless it is time to look for others."""
        if self._crowd is None or monotonic() >= self._look_at:
            return await self.read(source)
        return await read_crowd(source, self._crowd)

    def take(self, crowd: Crowd) -> None:
        """Take them."""
        self._crowd = crowd
        self._pools = pools_by_name(crowd.pools)
        self.rows = tuple(WorkerRow(heart, crowd.now) for heart in crowd.workers)

    def show_body(self, moment: Moment) -> None:
        """Show the workers, and their pools above."""
        super().show_body(moment)
        crowd, observation = self._crowd, moment.observation
        self._head.show(lambda _: crowd_head(crowd, observation))

    def nothing(self) -> str:
        """Why there is none."""
        if self._crowd is not None and self._crowd.unreadable:
            return unreadable_words(self._crowd.unreadable)
        return (
            "no worker has a heartbeat; workers of other libraries have none, groups list their consumers (3)"
        )

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

    def place_of(self, row: WorkerRow) -> Place:
        """What it reads."""
        return places.OneWorker(row.heart.id, row.heart.pool)

    def subject(self) -> Subject | None:
        """Its pool."""
        row = self.list.highlighted
        return None if row is None else subject_of_pool(row.heart.pool, self._pools, row.now)

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


def subject_of_pool(name: str, pools: Mapping[str, Pool], now: datetime | None) -> Subject:
    """A pool as what is acted on."""
    pool = pools.get(name)
    return Subject(
        sort=Sort.POOL_PAUSED if is_paused(pool) else Sort.POOL,
        pool=name,
        steered=pool is not None and is_steered(pool.steering, now),
    )
