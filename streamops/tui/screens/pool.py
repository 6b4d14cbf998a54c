"""One pool of workers: how many it has, why, what would change that, and what was decided before."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from streamops.errors import StreamopsError
from streamops.model.pools import PoolDecision
from streamops.present.pools import PoolRow
from streamops.present.table import Cell, Tone
from streamops.tui import places
from streamops.tui.asking import Go
from streamops.tui.beside.pool_lines import pool_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.screens.pools import subject_of_row
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.source import Source
from streamops.tui.subjects import Subject

MOST_DECISIONS = 100


class PoolScreen(ReadingFrame):
    """A pool in full, read again with every observation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "group", "its group", show=False, id="pool.group"),
    ]
    HINTS = (("l", "its group"), ("t", "tail"), ("r", "read again"), ("y", "copy name"), ("esc", "back"))

    def __init__(self, place: places.OnePool, moment: Moment) -> None:
        super().__init__(place, moment)
        self._pool = place.pool
        self._row: PoolRow | None = None
        self._decisions: list[PoolDecision] = []
        self._reading = False

    async def read(self, source: Source) -> tuple[PoolRow, list[PoolDecision]]:
        """The pool with its decisions."""
        now = await source.pools.clock()
        row = PoolRow(await source.pools.one(self._pool), now=now)
        return row, await source.pools.decisions(self._pool, MOST_DECISIONS)

    def reread(self) -> None:
        """Read it again, unless that is under way."""
        if not self._reading:
            self._reading = True
            super().reread()

    def show(self, moment: Moment) -> None:
        """Read it again with every observation: where the console is frozen or cut off, it stays as it is."""
        newer = moment.observation is not self.moment.observation
        super().show(moment)
        if newer:
            self.reread()

    def take(self, answer: tuple[PoolRow, list[PoolDecision]]) -> None:
        """Take it."""
        self._reading = False
        self._row, self._decisions = answer

    def unread(self, error: StreamopsError) -> None:
        """Say why it could not be read; what was read before stays."""
        self._reading = False
        super().unread(error)

    def lines(self, width: int) -> Sequence[Line]:
        """What it has, why, and the decisions."""
        if self._row is None:
            return () if self.error else [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        return pool_lines(self._row, self._decisions, width)

    def subject(self) -> Subject | None:
        """The pool."""
        return None if self._row is None else subject_of_row(self._row)

    def stream_name(self) -> str | None:
        """The stream that its workers read."""
        return None if self._row is None else self._row.pool.stream or None

    def copyable(self) -> str:
        """Its name."""
        return self._pool

    def action_group(self) -> None:
        """Show the group whose work it does."""
        pool = None if self._row is None else self._row.pool
        if pool is not None and pool.stream and pool.group:
            self.post_message(Go(places.Group(pool.stream, pool.group)))
