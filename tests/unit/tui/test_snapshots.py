"""What the main screens look like. After a change that is meant: ``pytest tests/tui/test_snapshots.py --snapshot-update``."""

from time import monotonic

import pytest
from textual.pilot import Pilot

from streamops.tui.app import StreamopsApp
from streamops.tui.moment import Loss
from tests.support.tui import sample
from tests.support.tui.driving import until
from tests.support.tui.snapshots import SIZES, Compare, hold, keys, shop_app
from tests.support.tui.source import STAGING, InventedSource, app_for

LOSS = Loss(
    "cannot connect to redis.shop.example:6379: connection refused", "check that the server runs", None
)


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
