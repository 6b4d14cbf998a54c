"""Lists of what the console knows by itself: streams, contexts, saved views."""

from functools import lru_cache
from operator import attrgetter
from typing import Final

from msgspec import Struct

from streamops.model.streams import StreamRole
from streamops.resources.filters import EVERY_SIGN
from streamops.resources.kinds import of_rows
from streamops.resources.streams import STREAMS
from streamops.resources.table import Cell, Column, Resource, Tone
from streamops.resources.text import safe
from streamops.resources.views import SavedView, view_toml
from streamops.tui import routes
from streamops.tui.lines.details import heading, paragraph, stream_lines
from streamops.tui.lines.words import PRODUCTION, why_empty
from streamops.tui.rows.selection import selection_at
from streamops.tui.screens.listing import Listing
from streamops.tui.source import ContextInfo
from streamops.tui.widgets.paint import BLANK_LINE, Line

STREAM_LIST: Final = Listing(
    resource=STREAMS,
    hints=(("open", "groups"), "tail", "filter", "faults", "sort", "groups"),
    empty=why_empty,
    leads=lambda row: routes.StreamRoute(row.stream.name),
    selects=lambda row: selection_at(
        routes.StreamRoute(row.stream.name), dead_letters=row.stream.role is StreamRole.DEAD_LETTERS
    ),
    detail=stream_lines,
)


class ContextRow(Struct, frozen=True):
    """A context, and whether it is the one in use."""

    info: ContextInfo
    in_use: bool


CONTEXT = of_rows(ContextRow)
CONTEXTS: Final = Resource[ContextRow](
    key=lambda row: row.info.name,
    columns=(
        CONTEXT.column(
            "current",
            "",
            1,
            lambda row: row.in_use,
            lambda row: Cell("▸" if row.in_use else "", Tone.OK),
            priority=0,
            descending=True,
        ).means("▸ marks the context in use."),
        CONTEXT.text("context", "CONTEXT", 16, lambda row: row.info.name, flexible=True, priority=0).means(
            "The context's name, as --context takes it."
        ),
        CONTEXT.column(
            "environment",
            "ENVIRONMENT",
            12,
            lambda row: row.info.environment,
            lambda row: Cell(
                safe(row.info.environment), Tone.WARN if row.info.environment == PRODUCTION else Tone.PLAIN
            ),
            flexible=True,
            priority=0,
        ).means("The context's environment; production unless configured."),
        CONTEXT.text("address", "ADDRESS", 24, lambda row: row.info.address, flexible=True, priority=0).means(
            "The server's address, without password."
        ),
    ),
    text=lambda row: f"{row.info.name} {row.info.environment} {row.info.address}",
)


@lru_cache(maxsize=1)
def _context_rows(contexts: tuple[ContextInfo, ...], in_use: str) -> tuple[ContextRow, ...]:
    return tuple(ContextRow(context, context.name == in_use) for context in contexts)


CONTEXT_LIST: Final = Listing(
    resource=CONTEXTS,
    hints=(("open", "connect"), "filter", "back"),
    rows=lambda app_state: _context_rows(app_state.contexts, app_state.context.name),
    empty=lambda _: "no contexts are configured; the server came from a URL",
    enter=lambda screen, row: screen.console.switch_context(row.info.name),
)


class ViewRow(Struct, frozen=True):
    """A saved view with its name."""

    name: str
    view: SavedView


def _view_column(key: str, title: str, words: str, width: int, priority: int) -> Column[ViewRow]:
    value = attrgetter("name" if key == "name" else f"view.{key}")

    def cell(row: ViewRow) -> Cell:
        match value(row):
            case None | "" | False:
                return Cell("-", Tone.DIM)
            case True:
                return Cell("faults", Tone.WARN)
            case tuple() as names:
                return Cell(safe(", ".join(names))) if names else Cell("default", Tone.DIM)
            case text:
                return Cell(safe(str(text)), Tone.STRONG if key == "name" else Tone.PLAIN)

    return Column(key, title, words, cell, value, width, flexible=True, priority=priority)


VIEW_COLUMNS: Final = (
    _view_column("name", "VIEW", "Its name, as :view takes it.", 12, 0),
    _view_column("place", "PLACE", "Its place, as typed after `:`.", 12, 0),
    _view_column("filter", "FILTER", "Its filter, as typed after `/`.", 14, 0),
    _view_column("sort", "SORT", "The column that it is sorted by.", 8, 1),
    _view_column("faults", "ONLY", "Whether only rows with a fault are shown.", 6, 2),
    _view_column("columns", "COLUMNS", "The columns shown, if not the default ones.", 10, 3),
)
VIEWS: Final = Resource[ViewRow](
    key=lambda row: row.name,
    columns=VIEW_COLUMNS,
    text=lambda row: " ".join((row.name, *(column.cell(row).text for column in VIEW_COLUMNS[1:]))),
)


def _view_lines(row: ViewRow, width: int) -> list[Line]:
    """The view as a configuration file has it."""
    lines: list[Line] = [heading("In a configuration file"), BLANK_LINE]
    for written in view_toml(row.name, row.view).splitlines():
        lines += paragraph(safe(written), width, Tone.PLAIN, hang=2)
    return lines


VIEW_LIST: Final = Listing(
    resource=VIEWS,
    hints=("open", "filter", ("copy_id", "copy name"), "back"),
    rows=lambda app_state: tuple(ViewRow(name, view) for name, view in sorted(app_state.views.items())),
    empty=lambda _: "no view is saved; arrange a list and type :save NAME",
    enter=lambda screen, row: screen.console.show_view(row.name),
    detail=_view_lines,
    literal=EVERY_SIGN,
)
