"""What the command palette finds of arranging lists: saved views, and every column to sort by."""

from collections.abc import Callable, Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from streamops.tui.screens.listing import Listing
from streamops.tui.viewing_app import ViewingApp


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
        app = self.app
        if isinstance(app, ViewingApp):
            for name in sorted(app.moment.views):
                yield f"View: {name}", "a saved view (w)", partial(app.show_view, name)

    def _columns(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        screen = self.screen
        if isinstance(screen, Listing):
            for column in screen.every_column:
                yield f"Sort by {column.title}", "again inverts (h)", partial(screen.sort_by, column.key)
