"""What the command palette finds: every action by name, every stream and group, saved views, columns to sort by."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from streamops.resources.actions import ACTIONS, ConsoleAction, shown_keys
from streamops.resources.text import safe
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import GroupRoute, Route, StreamRoute, StreamsRoute
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.listing import ListScreen

MOST: Final = 50
IN_WORDS: Final = 0.1
"""The score of an operation whose words, not whose name, hold the query: names of streams go before it."""


class Actions(Provider):
    """Everything there is to do. Help texts are our own words: the palette reads them as markup."""

    async def discover(self) -> Hits:
        """All actions."""
        for action, run in self._possible():
            yield DiscoveryHit(Content(action.title), run, text=action.title, help=_help(action))

    async def search(self, query: str) -> Hits:
        """The actions whose names match."""
        matcher = self.matcher(query)
        for action, run in self._possible():
            score = matcher.match(action.title)
            if score > 0:
                yield Hit(score, Content(action.title), run, text=action.title, help=_help(action))

    def _possible(self) -> Iterator[tuple[ConsoleAction, Callable[[], object]]]:
        for action in ACTIONS:
            runs = (action.runs or action.name).removeprefix("app.")
            method = f"action_{runs.partition('(')[0]}"
            for target in (self.screen, self.app):
                if action.title and hasattr(target, method):
                    yield action, partial(target.run_action, runs)
                    break


def _help(action: ConsoleAction) -> str:
    return f"{action.help} ({shown_keys(action.name, {})})" if action.keys else action.help


class Plans(Provider):
    """The operations that fit what the cursor is on; each opens a form, and then a plan."""

    async def discover(self) -> Hits:
        """All that fit."""
        for name, words, run in self._possible():
            yield DiscoveryHit(Content(name), run, text=name, help=words)

    async def search(self, query: str) -> Hits:
        """Those whose names match, then those whose words hold the query."""
        matcher = self.matcher(query)
        for name, words, run in self._possible():
            score = matcher.match(name) or (IN_WORDS if query.casefold() in words.casefold() else 0.0)
            if score > 0:
                yield Hit(score, Content(name), run, text=name, help=words)

    def _possible(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        screen = self.screen
        if not isinstance(screen, Frame) or not screen.app_state.may_plan:
            return
        # They bring the engine along.
        from streamops.operations.registry import command_words  # noqa: PLC0415
        from streamops.tui.acting.offers import offers  # noqa: PLC0415

        for operation in offers(screen.selection()):
            words = command_words(operation.name)
            run = partial(self.app.run_action, f"app.form({operation.name!r})")
            yield f"Plan: {words}", operation.summary, run


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
        app_state: AppState | None = screen.app_state if isinstance(screen, Frame) else None
        observation = None if app_state is None else app_state.observation
        for stream in () if observation is None else observation.streams:
            yield StreamRoute(stream.stream.name)
            for group in stream.groups:
                yield GroupRoute(group.stream, group.group.name)

    def _go(self, place: Route) -> None:
        if isinstance(self.screen, Frame):
            self.screen.console.go(place)


class Arrangements(Provider):
    """Saved views, and the columns of the list on the screen. Titles are literal text, whatever they hold."""

    async def discover(self) -> Hits:
        """The saved views."""
        for name, words, run in self._views():
            yield DiscoveryHit(Content(name), run, text=name, help=words)

    async def search(self, query: str) -> Hits:
        """Views and columns whose names match."""
        matcher = self.matcher(query)
        for name, words, run in (*self._views(), *self._columns()):
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, Content(name), run, text=name, help=words)

    def _views(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        screen = self.screen
        if isinstance(screen, Frame):
            for name in sorted(screen.app_state.views):
                yield f"View: {name}", "a saved view (w)", partial(self.app.run_action, f"app.view({name!r})")

    def _columns(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        screen = self.screen
        if isinstance(screen, ListScreen):
            for column in screen.every_column:
                yield f"Sort by {column.title}", "again inverts (h)", partial(screen.sort_by, column.key)
