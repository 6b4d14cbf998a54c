"""One pool of workers: how many it has, why, what would change that, and what was decided before."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from streamops.present.table import Cell, Tone
from streamops.tui import places
from streamops.tui.asking import Go
from streamops.tui.beside.pool_lines import pool_lines
from streamops.tui.beside.reads import PoolWhole, ReadPool
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.reads import Answered, Unanswered
from streamops.tui.screens.pools import subject_of_row
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.subjects import Subject


class PoolScreen(ReadingFrame):
    """A pool in full, read again with every observation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "group", "its group", show=False, id="pool.group"),
    ]
    HINTS = (("l", "its group"), ("t", "tail"), ("r", "read again"), ("y", "copy name"), ("esc", "back"))

    def __init__(self, place: places.OnePool, moment: Moment) -> None:
        super().__init__(place, moment)
        self._pool = place.pool
        self._whole: PoolWhole | None = None
        self._reading = False

    def wanted(self) -> ReadPool:
        """The pool with its decisions."""
        return ReadPool(self._pool)

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

    def on_answered(self, message: Answered) -> None:
        """Take it."""
        self._reading, self.error, self._whole = False, "", message.answer
        self.tell()

    def on_unanswered(self, message: Unanswered) -> None:
        """Say why it could not be read; what was read before stays."""
        del message
        self._reading = False

    def lines(self, width: int) -> Sequence[Line]:
        """What it has, why, and the decisions."""
        if self._whole is None:
            return () if self.error else [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        return pool_lines(self._whole.row, self._whole.decisions, width)

    def subject(self) -> Subject | None:
        """The pool."""
        return None if self._whole is None else subject_of_row(self._whole.row)

    def stream_name(self) -> str | None:
        """The stream that its workers read."""
        return None if self._whole is None else self._whole.row.pool.stream or None

    def copyable(self) -> str:
        """Its name."""
        return self._pool

    def action_group(self) -> None:
        """Show the group whose work it does."""
        pool = None if self._whole is None else self._whole.row.pool
        if pool is not None and pool.stream and pool.group:
            self.post_message(Go(places.Group(pool.stream, pool.group)))
