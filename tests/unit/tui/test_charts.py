"""The charts of a group: where they open, how far back they go, what they say where there is nothing to draw."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from textual.strip import Strip

from streamops.model.observation import Observation
from streamops.tui.app import StreamopsApp
from streamops.tui.history import alerts
from streamops.tui.history.memory import TIERS, MetricsHistory
from streamops.tui.lines.charting import SPANS, grid, group_charts, since_words, window
from streamops.tui.screens.charts import ChartsScreen
from streamops.tui.widgets.bars import BoxView
from tests.support.invented import NOW, seconds
from tests.support.tui import sample
from tests.support.tui.driving import NARROW, WIDE, bar, press, resize, running, screen_text, shown, until
from tests.support.tui.overview_source import PulseSource, fed, waves
from tests.support.tui.source import app_for

FULFILMENT = [*"jj"]


@pytest.fixture
def past(monkeypatch: pytest.MonkeyPatch) -> Callable[[], MetricsHistory]:
    """Every console of the test has seen the last five minutes."""
    made = fed(sample.shop())
    monkeypatch.setattr(alerts, "MetricsHistory", made)
    return made


def box(app: StreamopsApp) -> BoxView:
    return app.frame.query_one(BoxView)


async def opened(app: StreamopsApp, *keys: str) -> None:
    await until(app, lambda: app.app_state.past is not None)
    await press(app, *keys)


async def test_g_leads_to_the_charts_of_the_group_under_the_cursor() -> None:
    app = app_for(PulseSource(sample.shop()))
    charts = "prod ▸ orders ▸ fulfilment ▸ charts"
    async with running(app):
        await opened(app)
        for keys, crumbs in (
            ("j j j g", "prod"),
            ("home j j g", charts),
            ("g", charts),
            ("escape enter g", charts),
            ("2 g", "prod ▸ streams"),
            ("6 g", "prod ▸ payments ▸ ledger ▸ charts"),
        ):
            await press(app, *keys.split())
            await until(app, lambda crumbs=crumbs: bar(app, "crumbs").split(" | ")[0] == crumbs)  # type: ignore[misc]


async def test_arrows_choose_how_far_back() -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app):
        await opened(app, *FULFILMENT, "g")
        screen = app.frame
        assert isinstance(screen, ChartsScreen)
        for keys, span in (("left", 0), ("right", 1), ("l", 2), ("right right", 3), ("left h", 1)):
            await press(app, *keys.split())
            await until(app, lambda span=span: screen.span == span)  # type: ignore[misc]


@pytest.mark.parametrize("size", [NARROW, (30, 8)])
@pytest.mark.usefixtures("past")
async def test_charts_fill_what_room_there_is(size: tuple[int, int]) -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app, size):
        await opened(app, *FULFILMENT, "g")
        await shown(app, "Lag")
        lines = box(app).lines
        assert len(lines) <= box(app).size.height
        if size[0] >= 80:
            text = screen_text(app)
            for words in (
                "Lag entries",
                "Rates",
                "Lag age of the next entry",
                "Oldest pending",
                "11:58",
                "⠒ added",
            ):
                assert words in text
            assert "history since 11:55:20Z" in text


def later(second: float) -> Observation:
    """The shop, so many seconds later, as it was."""
    base = sample.shop()
    return replace(base, snapshot=replace(base.snapshot, collected_at=NOW + seconds(second)))


@pytest.mark.usefixtures("past")
async def test_a_poll_that_moves_no_dot_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    draw = BoxView.draw_line

    def counting(view: BoxView, y: int, width: int) -> Strip:
        drawn.append(y)
        return draw(view, y, width)

    source = PulseSource(sample.shop())
    app = app_for(source)
    async with running(app, drawn=True):
        await opened(app, *FULFILMENT, "g", "right", "right")
        await shown(app, "09:30")
        # Three hours over a hundred dots: one dot stands for more than a minute.
        source.observation = later(2)
        await press(app, "r")
        await until(app, lambda: app.app_state.observation is source.observation)
        monkeypatch.setattr(BoxView, "draw_line", counting)
        source.observation = later(4)
        await press(app, "r")
        await until(app, lambda: app.app_state.observation is source.observation)
        assert not drawn
        source.observation = later(240)
        await press(app, "r")
        await until(app, lambda: bool(drawn))


async def test_a_group_that_is_gone_is_told() -> None:
    source = PulseSource(sample.shop())
    app = app_for(source)
    async with running(app):
        await opened(app, *FULFILMENT, "g")
        source.observation = sample.observation()
        await press(app, "r")
        await shown(app, "group fulfilment does not exist (any more)")


@pytest.mark.usefixtures("past")
async def test_wide_screens_of_a_group_have_two_small_charts() -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app, WIDE):
        await opened(app, *FULFILMENT, "enter")
        await shown(app, "Lag entries")
        assert "Lag age of" not in screen_text(app)
        await resize(app, *NARROW)
        await until(app, lambda: "Lag entries" not in screen_text(app))


@pytest.mark.usefixtures("past")
async def test_a_frozen_screen_keeps_its_charts() -> None:
    source = PulseSource(sample.shop())
    app = app_for(source)
    async with running(app):
        await opened(app, *FULFILMENT, "g", "p")
        before = box(app).lines
        source.observation = later(60)
        await press(app, "r")
        await until(app, lambda: source.polls == 2)
        assert box(app).lines == before
        await press(app, "p")
        await until(app, lambda: box(app).lines != before)


def test_each_span_has_the_finest_resolution_that_reaches_so_far() -> None:
    for seconds_watched, word, length, spacing in [
        (60, "5 min", 300, 2),
        (60, "30 min", 1800, 10),
        (60, "3 h", 10800, 60),
        (60, "all", 300, 2),
        (900, "all", 900, 10),
        (20_000, "all", 20_000, 300),
        (200_000, "all", 86_400, 300),
    ]:
        past, base = MetricsHistory(), sample.shop()
        for second in (-seconds_watched, 0):
            past.take(replace(base, snapshot=replace(base.snapshot, collected_at=NOW + seconds(second))))
        span = next(span for span in SPANS if span.word == word)
        found = window(past, base, span)
        assert (found.seconds, found.tier.spacing) == (length, spacing)
        assert found.tier in TIERS
        assert bool(since_words(past, found)) == (seconds_watched < length)


def test_charts_side_by_side_never_leave_their_box() -> None:
    past = fed(sample.shop())()
    view = sample.shop().streams[3].groups[1]
    found = window(past, waves(sample.shop())[-1], SPANS[0])
    charts = group_charts(past, view, found, 30)
    for width in (1, 12, 40, 72, 80, 200):
        for height in (1, 4, 5, 9, 20, 21, 60):
            lines = grid(charts, width, height)
            assert len(lines) <= height
            assert all(sum(len(cell.text) for cell in line) <= width for line in lines)
