"""What the console does for a key, and what it brings along to its first screen: counted, not timed."""

from collections import Counter

import pytest
from textual.screen import Screen

from streamops.tui.theme import LIGHT_NAME
from streamops.tui.widgets.bars import Bar
from streamops.tui.widgets.line_view import LineView
from streamops.tui.widgets.paint import Painted
from streamops.tui.widgets.text_view import TextView
from tests.support.tui import sample
from tests.support.tui.driving import bar, list_of, press, running, screen_text, until
from tests.support.tui.source import InventedSource, app_for


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Lines drawn, by what draws them."""
    counts: Counter[str] = Counter()
    for painted in (Bar, LineView, TextView):
        monkeypatch.setattr(painted, "draw_line", _counting(painted, counts))
    return counts


def _counting(painted: type[Painted], counts: Counter[str]) -> object:
    draw = painted.draw_line

    def draw_line(widget: Painted, y: int, width: int) -> object:
        counts[painted.__name__] += 1
        return draw(widget, y, width)

    return draw_line


@pytest.fixture
def laid_out(monkeypatch: pytest.MonkeyPatch) -> list[Screen[object]]:
    """The screens that were laid out, one for each time."""
    screens: list[Screen[object]] = []
    lay_out = Screen._refresh_layout

    def refresh_layout(screen: Screen[object], *args: object, **options: object) -> None:
        screens.append(screen)
        lay_out(screen, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Screen, "_refresh_layout", refresh_layout)
    return screens


async def test_a_move_draws_the_rows_the_cursor_left_and_reached(drawn: Counter[str]) -> None:
    app = app_for(InventedSource(sample.many(100)))
    async with running(app, drawn=True):
        await until(app, lambda: "1/100" in screen_text(app) and "acked" in bar(app, "crumbs"))
        drawn.clear()
        await press(app, "j")
        await until(app, lambda: "2/100" in screen_text(app))
        assert drawn["LineView"] == 2
        assert drawn["Bar"] == 1  # the status: the cursor's place
        assert drawn["TextView"] == 1  # the pane: the group's name


async def test_moves_lay_nothing_out_where_the_pane_has_room_for_what_it_tells(
    laid_out: list[Screen[object]],
) -> None:
    app = app_for(InventedSource(sample.shop()))
    async with running(app, size=(120, 70)):
        await until(app, lambda: "1/9" in screen_text(app) and not app.screen._layout_required)
        laid_out.clear()
        pane = app.frame.query_one("#pane", TextView)
        heights = set()
        for place in range(2, 10):
            await press(app, "j")
            await until(app, lambda place=place: f"{place}/9" in screen_text(app))  # type: ignore[misc]
            heights.add(len(pane.lines))
        assert len(heights) > 1
        assert max(heights) <= pane.size.height
        assert not laid_out


async def test_a_poll_draws_what_changed_on_the_screen(drawn: Counter[str]) -> None:
    before = sample.many(100)
    source = InventedSource(before)
    app = app_for(source)
    async with running(app, drawn=True):
        await until(app, lambda: "1/100" in screen_text(app))
        drawn.clear()
        # Every tenth stream: five of the fifty, of which two stand on the screen, with two groups each.
        source.observation = sample.changed(before, 3, streams=5)
        await press(app, "r")
        await until(app, lambda: app.app_state.observation is source.observation)
        await until(app, lambda: drawn["LineView"] > 0)
        assert drawn["LineView"] == 4


async def test_the_other_theme_draws_everything_anew(drawn: Counter[str]) -> None:
    app = app_for(InventedSource(sample.many(100)))
    async with running(app, drawn=True):
        await until(app, lambda: "1/100" in screen_text(app))
        drawn.clear()
        app.action_toggle_theme()
        assert app.theme == LIGHT_NAME
        height = list_of(app).size.height
        await until(app, lambda: drawn["LineView"] >= height and drawn["TextView"] >= height)
        await until(app, lambda: drawn["Bar"] >= 4)
