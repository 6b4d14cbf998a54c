"""A list that is read on demand, and again at a pace that its cost allows."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Any, ClassVar, Final, TypeVar

from streamops.errors import StreamopsError
from streamops.model.streams import ReadError
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.resources.units import count
from streamops.tui.lines import words
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.listing import ListScreen
from streamops.tui.source import Source
from streamops.tui.widgets.paint import Line

Row = TypeVar("Row")

REST: Final = 20.0
"""A read that took a second is not made again for so many."""


class ReadListing(ListScreen[Row]):
    """Rows that no observation holds. Subclasses say what to read, and which rows follow from it.

    It is read with new observations, so that a frozen screen and a lost server are left alone; but not more often than
    every ``AGAIN`` seconds, and less often where it takes long.
    """

    AGAIN: ClassVar[float] = 10.0

    def __init__(
        self,
        place: Route,
        app_state: AppState,
        columns: Sequence[Column[Row]],
        more: Sequence[Column[Row]] = (),
    ) -> None:
        super().__init__(place, app_state, columns, more)
        self.rows: Sequence[Row] = ()
        self.gaps: tuple[ReadError, ...] = ()
        self.read_at: float | None = None
        self.error = ""
        self._asked_at: float | None = None
        self._due_at = 0.0

    @property
    def is_reading(self) -> bool:
        """Whether a read is under way."""
        return self._asked_at is not None

    @abstractmethod
    async def read(self, source: Source) -> Any:  # noqa: ANN401 - each screen reads something else
        """Read all of it; raises ``StreamopsError``."""

    async def read_again(self, source: Source) -> Any:  # noqa: ANN401 - as above
        """Read it where only time went by; all of it unless less will do."""
        return await self.read(source)

    @abstractmethod
    def take(self, answer: Any) -> None:  # noqa: ANN401 - as above
        """Make rows of what was read."""

    @property
    def may_read(self) -> bool:
        """Whether it is known what to read."""
        return True

    def nothing(self) -> str:
        """Why there are no rows where reading brought none."""
        return "nothing here"

    def on_mount(self) -> None:
        """Read for the first time."""
        self.reread()

    def reread(self) -> None:
        """Read again, unless that is under way."""
        self._ask(self.read)

    def show(self, app_state: AppState) -> None:
        """Read again where there is a new observation and it is time."""
        newer = app_state.observation is not self.app_state.observation
        super().show(app_state)
        if newer and monotonic() >= self._due_at:
            self._ask(self.read_again)

    def unread(self, error: StreamopsError) -> None:
        """Say why it could not be read; what was read before stays."""
        self._over()
        self.error = safe(error.message)
        self.show_body(self.app_state)

    def rows_of(self, app_state: AppState) -> Sequence[Row]:
        """What was read last."""
        del app_state
        return self.rows

    def empty_note(self) -> str:
        """Why nothing is listed."""
        if self.error:
            return f"✗ {self.error}"
        if self.read_at is None:
            return "reading"
        return self.nothing() if not self.gaps else f"{self.nothing()}; {_unread(self.gaps)}"

    def position_words(self) -> Line:
        """What went wrong, how old the rows are, and the cursor."""
        cells = [Cell(f"{self.error}  ", Tone.CRITICAL)] if self.error and self.rows else []
        if self.gaps:
            cells.append(Cell(f"{count(len(self.gaps))} not readable  ", Tone.WARN))
        return (*cells, *_age(self.read_at), *words.position(self.list.cursor, len(self.list.rows)))

    def _ask(self, read: Callable[[Source], Awaitable[Any]]) -> None:
        if self.may_read and self._asked_at is None:
            self._asked_at = monotonic()
            self.fetch(read, self._taken)

    def _taken(self, answer: Any) -> None:  # noqa: ANN401 - as above
        self._over()
        self.error, self.read_at = "", monotonic()
        self.take(answer)
        self.show_body(self.app_state)

    def _over(self) -> None:
        now = monotonic()
        cost = now - (self._asked_at or now)
        self._asked_at = None
        self._due_at = now + max(self.AGAIN, cost * REST)


def _age(read_at: float | None) -> Line:
    if read_at is None:
        return ()
    age = monotonic() - read_at
    return (Cell(f"read {words.whole_seconds(age)} ago  " if age >= 1 else "just read  ", Tone.DIM),)


def _unread(gaps: Sequence[ReadError]) -> str:
    more = f", and {len(gaps) - 1} more" if len(gaps) > 1 else ""
    return f"not readable: {safe(gaps[0].scope)}: {safe(gaps[0].reason)}{more}"
