"""From one context to another."""

from streamops.tui.lines.details import row_lines
from streamops.tui.screens.lists import CONTEXT_LIST, CONTEXTS
from tests.support.tui import sample
from tests.support.tui.driving import bar, names, press, running, shown, until
from tests.support.tui.shop import ALL, REFUSED, shop_source
from tests.support.tui.source import InventedSource, app_for


async def test_another_context_is_connected_to_and_nothing_of_the_first_stays() -> None:
    first, second = shop_source(), InventedSource(sample.observation(sample.stream_view("elsewhere")))
    app = app_for(first, second)
    async with running(app):
        await press(app, "f", "colon", *"ctx", "enter")
        await shown(app, "▸  prod     production")
        await press(app, "down", "enter")
        await until(app, lambda: bar(app, "header").startswith("streamops  staging  staging"))
        await press(app, "f")
        await until(app, lambda: names(app) == ["elsewhere/-"])
        assert first.closed
        assert not second.closed
        await press(app, "colon", *"ctx prod", "enter")
        await until(app, lambda: names(app) == ALL)


async def test_an_unknown_context_is_refused_in_words() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "colon", *"ctx moon", "enter")
        await shown(app, "no context is named moon")
        assert names(app) == ALL


async def test_a_context_that_cannot_be_reached_is_a_banner_not_the_end() -> None:
    app = app_for(shop_source(), InventedSource(REFUSED))
    async with running(app):
        await press(app, "colon", *"ctx staging", "enter")
        await shown(app, "✗ next try in 1s · cannot connect: connection refused")
        await shown(app, "no connection yet")
        assert not app._exit


def test_detail_of_a_row_names_each_fact_and_leaves_out_columns_without_a_header() -> None:
    (row, *_) = CONTEXT_LIST.rows_of(app_for(shop_source()).app_state)
    assert ["".join(cell.text for cell in line) for line in row_lines(CONTEXTS, row, 60)] == [
        " prod",
        " environment   ▲ production",
        f" address       {row.info.address}",
    ]
