"""All contexts, and the one in use."""

from collections.abc import Sequence
from typing import Final

from streamops.resources.kinds import of_rows
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.tui.lines.words import PRODUCTION
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.listing import ListScreen
from streamops.tui.source import ContextInfo

CONTEXT = of_rows(ContextInfo)

CONTEXT_COLUMNS: Final[tuple[Column[ContextInfo], ...]] = (
    CONTEXT.text("context", "CONTEXT", 16, lambda row: row.name, flexible=True, priority=0).means(
        "The context's name, as --context takes it."
    ),
    CONTEXT.column(
        "environment",
        "ENVIRONMENT",
        12,
        lambda row: row.environment,
        lambda row: Cell(safe(row.environment), Tone.WARN if row.environment == PRODUCTION else Tone.PLAIN),
        flexible=True,
        priority=0,
    ).means("What the context is for; production unless its configuration says otherwise."),
    CONTEXT.text("address", "ADDRESS", 24, lambda row: row.address, flexible=True, priority=0).means(
        "Where the server is; never with its password."
    ),
)


class ContextsScreen(ListScreen[ContextInfo]):
    """The contexts; Enter connects to one."""

    HINTS = (("open", "connect"), "filter", "back")

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state, (_marker(app_state.context.name), *CONTEXT_COLUMNS))

    def rows_of(self, app_state: AppState) -> Sequence[ContextInfo]:
        """All contexts."""
        return app_state.contexts

    def identify(self, row: ContextInfo) -> str:
        """The context's name."""
        return row.name

    def text_of(self, row: ContextInfo) -> str:
        """Everything there is about it."""
        return f"{row.name} {row.environment} {row.address}"

    def name_of(self, row: ContextInfo) -> str:
        """The context's name."""
        return row.name

    def on_line_view_chosen(self) -> None:
        """Connect to the context."""
        row = self.list.highlighted
        if row is not None:
            self.console.switch_context(row.name)

    def empty_note(self) -> str:
        """Why there are none."""
        return "no contexts are configured; the server came from a URL"


def _marker(current: str) -> Column[ContextInfo]:
    """A mark at the context in use."""
    return CONTEXT.column(
        "current",
        "",
        1,
        lambda row: row.name == current,
        lambda row: Cell("▸" if row.name == current else "", Tone.OK),
        priority=0,
        descending=True,
    ).means("▸ marks the context in use.")
