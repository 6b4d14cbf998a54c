"""What the command palette finds: every action by name, every stream and group, saved views, columns to sort by."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from streamops.present.text import safe
from streamops.tui.app_state import AppState
from streamops.tui.routes import GroupRoute, Route, StreamRoute, StreamsRoute
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.listing import ListScreen

MOST: Final = 50
IN_WORDS: Final = 0.1
"""The score of an operation whose words, not whose name, hold the query: names of streams go before it."""
ACTIONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("Overview", "app.go('Overview')", "totals, rates and findings on one page (1)"),
    ("Alerts", "app.go('Alerts')", "findings, since when, and the fix (6)"),
    ("Charts", "app.charts", "the group under the cursor over minutes to hours (g)"),
    ("All groups", "app.root", "every stream with every group (3)"),
    ("All streams", "app.go('Streams')", "one row each (2)"),
    ("Dead letters", "app.go('DeadLetters')", "all dead-letter queues, with the reasons (4)"),
    ("Jobs", "app.go('Jobs')", "running, interrupted and finished jobs (4 4)"),
    ("Delayed messages", "app.go('DelayedQueues')", "messages that are due later (:delayed)"),
    ("Topics", "app.go('Topics')", "URLs that messages are posted to (:topics)"),
    ("Workers", "app.go('Workers')", "worker processes with a heartbeat, pools (5)"),
    ("Pools", "app.go('Pools')", "ready and desired workers, and why (5 5)"),
    ("Audit log", "app.go('Audit')", "what was done, by whom and why (7 or @)"),
    ("Contexts", "app.go('Contexts')", "connect elsewhere (:ctx)"),
    ("Tail", "app.tail", "the stream under the cursor, live (t)"),
    ("Filter", "screen.filter", "words, lag>1000, health:crit (/)"),
    ("Search payloads", "app.search", "of the stream under the cursor, newest first (s)"),
    ("Columns", "app.headings", "sort by any, show and hide (h)"),
    ("Saved views", "app.go('Views')", "open one; :save NAME saves this list (w)"),
    ("Faults only", "screen.faults", "and everything again (f)"),
    ("Sort by the next column", "screen.sort", "(o)"),
    ("Invert the order", "screen.invert", "(i)"),
    ("Read now", "app.read_now", "without waiting for the interval (r)"),
    ("Freeze", "app.freeze", "and go on (p)"),
    ("Refresh slower", "app.slower", "1, 2, 5, 10, 30 s, off (+)"),
    ("Refresh faster", "app.faster", "(-)"),
    ("Copy ID", "app.copy_id", "or name, of the row under the cursor (y)"),
    ("Copy command", "app.copy_command", "that prints what the screen shows (c)"),
    ("Other colours", "app.toggle_theme", "dark, light, colour-blind"),
    ("Help", "app.help", "the row under the cursor, its numbers, the keys (?)"),
    ("Quit", "app.quit", "(q on the first screen, Ctrl-Q anywhere)"),
)


class Actions(Provider):
    """Everything there is to do. Help texts are our own words: the palette reads them as markup."""

    async def discover(self) -> Hits:
        """All actions."""
        for name, action, words in self._possible():
            yield DiscoveryHit(Content(name), self._runner(action), text=name, help=words)

    async def search(self, query: str) -> Hits:
        """The actions whose names match."""
        matcher = self.matcher(query)
        for name, action, words in self._possible():
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, Content(name), self._runner(action), text=name, help=words)

    def _possible(self) -> Iterator[tuple[str, str, str]]:
        for name, action, words in ACTIONS:
            where, _, verb = action.partition(".")
            target = self.app if where == "app" else self.screen
            if hasattr(target, f"action_{verb.partition('(')[0]}"):
                yield name, action, words

    def _runner(self, action: str) -> Callable[[], object]:
        return partial(self.screen.run_action, action)


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
