"""Pools of workers: how many each has and is to have, and why."""

from streamops.model.pools import PoolDecision
from streamops.present.columns.pools import POOL_COLUMNS, POOL_DETAIL_COLUMNS
from streamops.present.pools import PoolRow
from streamops.tui import places
from streamops.tui.beside.pool_lines import pool_facts_lines, pool_lines
from streamops.tui.beside.worker_lines import is_paused
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.read_listing import ReadListing
from streamops.tui.source import Source
from streamops.tui.subjects import Sort, Subject
from streamops.tui.text_view import Builder

FEW_DECISIONS = 20
"""As many as the pane may show."""


class PoolsScreen(ReadListing[PoolRow]):
    """The pools; Enter leads to one with the decisions about it."""

    AGAIN = 2.0
    HINTS = (("enter", "decisions"), ("5", "workers"), ("/", "filter"), ("f", "faults"), ("esc", "back"))

    def __init__(self, place: places.Pools, moment: Moment) -> None:
        super().__init__(place, moment, POOL_COLUMNS, POOL_DETAIL_COLUMNS)
        self._decisions: dict[str, tuple[PoolDecision, ...]] = {}

    async def read(self, source: Source) -> tuple[PoolRow, ...]:
        """All of them, and what was decided about the one under the cursor, else about the first."""
        row = self.list.highlighted or next(iter(self.rows), None)
        now = await source.pools.clock()
        rows = tuple(PoolRow(pool, now=now) for pool in await source.pools.all())
        if row is not None:
            decided = await source.pools.decisions(row.pool.name, FEW_DECISIONS)
            self._decisions[row.pool.name] = tuple(decided)
        return rows

    def take(self, answer: tuple[PoolRow, ...]) -> None:
        """Take them."""
        self.rows = answer

    def nothing(self) -> str:
        """Why there is none."""
        return (
            "no pool has a controller, or supervisors that follow one: `autoscale run`, `run --workers auto`"
        )

    def identify(self, row: PoolRow) -> str:
        """The name."""
        return row.pool.name

    def text_of(self, row: PoolRow) -> str:
        """Name, what it works on, who runs it, and why."""
        pool = row.pool
        return f"{pool.name} {pool.stream} {pool.group} {pool.target} {row.why}"

    def is_fault(self, row: PoolRow) -> bool:
        """Whether it needs a look."""
        return row.is_trouble

    def place_of(self, row: PoolRow) -> Place:
        """The pool."""
        return places.OnePool(row.pool.name)

    def subject(self) -> Subject | None:
        """The pool."""
        row = self.list.highlighted
        return None if row is None else subject_of_row(row)

    def stream_name(self) -> str | None:
        """The stream that its workers read."""
        row = self.list.highlighted
        return None if row is None else row.pool.stream or None

    def detail(self, row: PoolRow) -> Builder:
        """The pool, what its last decision rests on, and those before it as they were read last."""
        known = self._decisions.get(row.pool.name)
        return lambda width: pool_facts_lines(row, width) if known is None else pool_lines(row, known, width)

    def name_of(self, row: PoolRow) -> str:
        """Its name."""
        return row.pool.name


def subject_of_row(row: PoolRow) -> Subject:
    """A pool as what is acted on."""
    paused = is_paused(row.pool)
    return Subject(sort=Sort.POOL_PAUSED if paused else Sort.POOL, pool=row.pool.name, steered=row.is_steered)
