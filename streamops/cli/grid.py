"""Tables on a terminal, drawn by rich. The only module of the command line that imports it."""

from collections.abc import Sequence
from typing import Final, TextIO, TypeVar

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from streamops.resources.table import Align, Cell, Column, Tone
from streamops.resources.text import in_ascii

Row = TypeVar("Row")

GAP: Final = 2
UNBOUNDED: Final = 100_000
COLOR_SYSTEMS: Final = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
    "windows": ColorSystem.WINDOWS,
}
STYLES: Final = {
    Tone.PLAIN: "",
    Tone.DIM: "dim",
    Tone.STRONG: "bold",
    Tone.OK: "blue",
    Tone.WARN: "yellow",
    Tone.CRITICAL: "bold red",
    Tone.UNKNOWN: "magenta",
}


class Painter:
    """Draws on one stream.

    Attributes:
        dropped: Titles of columns that did not fit.
    """

    def __init__(self, file: TextIO, *, width: int | None, color: bool, ascii_only: bool) -> None:
        """Draw on ``file``, ``width`` cells wide, or as wide as the rows are where it is none."""
        self.dropped: list[str] = []
        self._width = width
        self._ascii_only = ascii_only
        self._file = file
        self._console = Console(
            file=file,
            width=width or UNBOUNDED,
            no_color=not color,
            color_system="auto" if color else None,
            force_terminal=color,
            highlight=False,
            markup=False,
            emoji=False,
            soft_wrap=False,
        )
        system = self._console.color_system
        self._colors = COLOR_SYSTEMS[system] if color and system else None
        self._styles = {tone: self._console.get_style(style or "none") for tone, style in STYLES.items()}

    def draw_rows(self, columns: Sequence[Column[Row]], rows: Sequence[Row]) -> None:
        """Draw rows under their titles; columns that do not fit are left out, the least important first."""
        columns = [column for column in columns if not column.sparse or any(map(column.value, rows))]
        cells = [[self._shown(column.cell(row)) for column in columns] for row in rows]
        widths = [
            max([cell_len(column.title), *(cell_len(row[at].text) for row in cells)])
            for at, column in enumerate(columns)
        ]
        kept = self._fitting(columns, widths)
        self.dropped += [column.title for at, column in enumerate(columns) if at not in kept]
        if self._width is None or _total(kept, widths) <= self._width:
            self._write_rows(columns, kept, widths, cells)
        else:
            self._fold_rows(columns, kept, cells)

    def _write_rows(
        self,
        columns: Sequence[Column[Row]],
        kept: Sequence[int],
        widths: Sequence[int],
        cells: Sequence[Sequence[Cell]],
    ) -> None:
        """Rows of which all fits: there may be ten thousand of them, and rich takes its time with each."""
        right = {at for at in kept if columns[at].align is Align.RIGHT}
        titles = [Cell(column.title, Tone.STRONG) for column in columns]
        for row in (titles, *cells):
            line = (" " * GAP).join([self._padded(row[at], widths[at], right=at in right) for at in kept])
            self._file.write(f"{line.rstrip()}\n")

    def _fold_rows(
        self, columns: Sequence[Column[Row]], kept: Sequence[int], cells: Sequence[Sequence[Cell]]
    ) -> None:
        """Rows of which something has to be folded."""
        grid = Grid(
            box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold", collapse_padding=True
        )
        for at in kept:
            column = columns[at]
            right = column.align is Align.RIGHT
            grid.add_column(
                Text(column.title),
                justify="right" if right else "left",
                overflow="fold",
                no_wrap=not column.flexible,
            )
        for row in cells:
            grid.add_row(*(_text(row[at]) for at in kept))
        self._print(grid)

    def draw_facts(self, columns: Sequence[Column[Row]], row: Row) -> None:
        """Draw one row as lines of title and value."""
        told = [column for column in columns if not column.sparse or column.value(row)]
        self.draw_pairs([(column.title, column.cell(row)) for column in told])

    def draw_pairs(self, pairs: Sequence[tuple[str, Cell]]) -> None:
        """Draw lines of a title, or none, and what is told under it."""
        grid = Grid(
            box=None, pad_edge=False, padding=(0, GAP, 0, 0), show_header=False, collapse_padding=True
        )
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for title, cell in pairs:
            grid.add_row(Text(title, style="bold"), _text(self._shown(cell)))
        self._print(grid)

    def draw_title(self, title: str) -> None:
        """Draw an empty line and a heading."""
        with self._console.capture() as drawn:
            self._console.print(Text(title, style="bold underline"))
        self._file.write(f"\n{drawn.get()}")

    def _print(self, grid: Grid) -> None:
        """Print without the blanks that rich fills the last column with."""
        with self._console.capture() as drawn:
            self._console.print(grid)
        for line in drawn.get().splitlines():
            self._file.write(f"{line.rstrip()}\n")

    def _shown(self, cell: Cell) -> Cell:
        return Cell(in_ascii(cell.text), cell.tone) if self._ascii_only else cell

    def _padded(self, cell: Cell, width: int, *, right: bool) -> str:
        text, style = cell.text, self._styles[cell.tone]
        padding = " " * (width - cell_len(text))
        painted = style.render(text, color_system=self._colors) if text and self._colors else text
        return padding + painted if right else painted + padding

    def _fitting(self, columns: Sequence[Column[Row]], widths: Sequence[int]) -> list[int]:
        kept = list(range(len(columns)))
        if self._width is None:
            return kept
        while _total(kept, widths) > self._width:
            least = max(kept, key=lambda at: (columns[at].priority, at))
            if columns[least].priority == 0:
                break
            kept.remove(least)
        return kept


def _total(kept: Sequence[int], widths: Sequence[int]) -> int:
    return sum(widths[at] for at in kept) + GAP * (len(kept) - 1)


def _text(cell: Cell) -> Text:
    return Text(cell.text, style=STYLES[cell.tone])
