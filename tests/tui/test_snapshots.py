"""What the main screens look like. After a change that is meant: ``pytest tests/tui/test_snapshots.py --snapshot-update``."""

from collections.abc import Awaitable, Callable
from time import monotonic

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from streamops.tui.app import StreamopsApp
from streamops.tui.moment import Loss
from tests.tui import sample
from tests.tui.driving import press, until
from tests.tui.source import STAGING, InventedSource, app_for

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[int]], Awaitable[None]]
SIZES = [(80, 24), (120, 40), (160, 50)]
LOSS = Loss(
    "cannot connect to redis.shop.example:6379: connection refused", "check that the server runs", None
)


def shop_app(theme: str = "dark") -> StreamopsApp:
    source = InventedSource(sample.shop(), sample.entries(), sample.pending_rows())
    return app_for(source, theme=theme)


def hold(app: StreamopsApp, **changes: object) -> None:
    """Show the moment as it would be."""
    app.live.moment = replace(app.moment, **changes)
    app.pass_down()


def keys(*pressed: str) -> Prepare:
    """Wait for the first observation, hold its age at zero, press keys, and let everything arrive."""

    async def prepare(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        await until(app, lambda: app.moment.observation is not None)
        hold(app, arrived=monotonic() + 3600)
        await press(app, *pressed)
        await pilot.pause(0.1)

    return prepare


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
def test_status(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(shop_app(), terminal_size=size, run_before=keys(*"jjjjjj"))


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: "{}x{}".format(*size))
def test_status_light(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(shop_app("light"), terminal_size=size, run_before=keys("o", "o", "o"))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
def test_group(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(shop_app(), terminal_size=size, run_before=keys(*"jjjj", "enter"))


@pytest.mark.parametrize(
    "pressed",
    [
        pytest.param(["2"], id="streams"),
        pytest.param(["2", *"jjj", "enter"], id="stream"),
        pytest.param([*"jjjj", "enter", "l"], id="pending"),
        pytest.param(["t"], id="tail"),
        pytest.param(["t", "enter"], id="entry"),
        pytest.param([*"jjjjjj", "question_mark"], id="help"),
        pytest.param(["slash", *"ord"], id="filter"),
        pytest.param(["f"], id="faults"),
        pytest.param(["colon", *"ctx", "enter"], id="contexts"),
    ],
)
@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: "{}x{}".format(*size))
def test_screen(snap_compare: Compare, pressed: list[str], size: tuple[int, int]) -> None:
    assert snap_compare(shop_app(), terminal_size=size, run_before=keys(*pressed))


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: "{}x{}".format(*size))
def test_lost_connection(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(pilot: Pilot[int]) -> None:
        await keys("j")(pilot)
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        hold(app, loss=LOSS)
        await pilot.pause()

    assert snap_compare(shop_app(), terminal_size=size, run_before=prepare)


def test_ten_thousand_groups(snap_compare: Compare) -> None:
    app = app_for(InventedSource(sample.many()))
    assert snap_compare(app, terminal_size=SIZES[2], run_before=keys("pagedown", "pagedown", "down"))


def test_an_empty_server_elsewhere(snap_compare: Compare) -> None:
    app = app_for(InventedSource(sample.shop()), InventedSource(sample.observation(complete=False)))

    async def prepare(pilot: Pilot[int]) -> None:
        await keys()(pilot)
        app.switch_context(STAGING.name)
        await until(app, lambda: app.moment.observation is not None)
        hold(app, arrived=monotonic() + 3600)
        await pilot.pause()

    assert snap_compare(app, terminal_size=SIZES[0], run_before=prepare)
