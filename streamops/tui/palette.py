"""What the command palette finds: every action by name, every stream and group, saved views, columns to sort by."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from streamops.resources.actions import ACTIONS, shown_keys
from streamops.resources.text import safe
from streamops.tui.routes import GroupRoute, Route, StreamRoute, StreamsRoute
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.listing import ListScreen

MOST: Final = 50
IN_WORDS: Final = 0.1
"""The score of an operation whose words, not whose name, hold the query: names of streams go before it."""


class PaletteRow(NamedTuple):
    """What the palette offers.

    Attributes:
        title: Its name. A name is literal text, whatever it holds.
        help: What it does; our own words, for the palette reads them as markup.
        run: Does it.
        is_searched: Whether it is found by what is typed alone.
        by_help: Whether it is found by words of the help too.
    """

    title: str
    help: str
    run: Callable[[], object]
    is_searched: bool = False
    by_help: bool = False


class PaletteRows(Provider):
    """Commands found by their titles. Subclasses say which there are."""

    async def discover(self) -> Hits:
        """All but those that are only found by what is typed."""
        for title, words, run, is_searched, _ in self.commands():
            if not is_searched:
                yield DiscoveryHit(Content(title), run, text=title, help=words)

    async def search(self, query: str) -> Hits:
        """Those whose titles match, then those whose help holds the query."""
        matcher = self.matcher(query)
        for title, words, run, _, by_help in self.commands():
            in_words = IN_WORDS if by_help and query.casefold() in words.casefold() else 0.0
            if (score := matcher.match(title) or in_words) > 0:
                yield Hit(score, Content(title), run, text=title, help=words)

    @abstractmethod
    def commands(self) -> Iterator[PaletteRow]:
        """What there is."""


class Actions(PaletteRows):
    """Everything there is to do."""

    def commands(self) -> Iterator[PaletteRow]:
        """The actions that the screen or the console has."""
        for action in ACTIONS:
            runs = (action.runs or action.name).removeprefix("app.")
            for target in (self.screen, self.app):
                if action.title and hasattr(target, action.method):
                    keys = f" ({shown_keys(action.name, {})})" if action.keys else ""
                    yield PaletteRow(action.title, f"{action.help}{keys}", partial(target.run_action, runs))
                    break


class Plans(PaletteRows):
    """The operations that fit what the cursor is on; each opens a form, and then a plan."""

    def commands(self) -> Iterator[PaletteRow]:
        """Those that fit."""
        screen = self.screen
        if not isinstance(screen, Frame) or not screen.app_state.may_plan:
            return
        # They bring the engine along.
        from streamops.operations.registry import command_words  # noqa: PLC0415
        from streamops.tui.acting.offers import offers  # noqa: PLC0415

        selection = screen.selection()
        for operation in offers(selection):
            run = partial(screen.console.open_form, operation.name, selection)
            title = f"Plan: {command_words(operation.name)}"
            yield PaletteRow(title, operation.summary, run, by_help=True)


class Places(Provider):
    """Streams and groups by name; names are literal text, whatever they hold."""

    async def search(self, query: str) -> Hits:
        """At most fifty streams and groups whose names hold the query, those that begin with it first."""
        part = query.casefold()
        shown = 0
        for place in self._all():
            name = safe(" ▸ ".join(place.breadcrumbs))
            at = name.casefold().find(part)
            if at < 0:
                continue
            yield Hit(1 / (2 + at), Content(name), partial(self._go, place), text=name)
            shown += 1
            if shown >= MOST:
                return

    def _all(self) -> Iterator[Route]:
        yield StreamsRoute()
        screen = self.screen
        for stream in screen.app_state.observed if isinstance(screen, Frame) else ():
            yield StreamRoute(stream.stream.name)
            for group in stream.groups:
                yield GroupRoute(group.stream, group.group.name)

    def _go(self, place: Route) -> None:
        if isinstance(self.screen, Frame):
            self.screen.console.go(place)


class Arrangements(PaletteRows):
    """Saved views, and the columns of the list on the screen."""

    def commands(self) -> Iterator[PaletteRow]:
        """The views, then the columns."""
        screen = self.screen
        if isinstance(screen, Frame):
            for name in sorted(screen.app_state.views):
                run = partial(screen.console.show_view, name)
                yield PaletteRow(f"View: {name}", "a saved view (w)", run)
        if isinstance(screen, ListScreen):
            for column in screen.every_column:
                sort = partial(screen.sort_by, column.key)
                yield PaletteRow(f"Sort by {column.title}", "again inverts (h)", sort, is_searched=True)
