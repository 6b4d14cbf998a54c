"""What pulse, charts and alerts look like. After a change that is meant: ``--snapshot-update``."""

import pytest
from textual.pilot import Pilot

from streamops.tui import noticing
from streamops.tui.app import StreamopsApp
from tests.support.tui import sample
from tests.support.tui.driving import until
from tests.support.tui.pulse_source import PulseSource, fed
from tests.support.tui.snapshots import SIZES, Compare, Prepare
from tests.support.tui.snapshots import keys as keys_once_observed
from tests.support.tui.source import app_for

ALL_SIZES = pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
NARROW_AND_WIDE = pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: "{}x{}".format(*size))


@pytest.fixture(autouse=True)
def _past(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every console of these tests has seen the last half hour."""
    monkeypatch.setattr(noticing, "Past", fed(sample.shop(), count=180, apart=10))


def keys(*pressed: str) -> Prepare:
    """The same once findings are noticed, which begins a moment after the first observation."""
    prepare = keys_once_observed(*pressed)

    async def when_noticed(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        await until(app, lambda: bool(app.moment.alerts))
        await prepare(pilot)

    return when_noticed


def shop_app(theme: str = "dark") -> StreamopsApp:
    return app_for(PulseSource(sample.shop()), theme=theme)


@ALL_SIZES
@pytest.mark.parametrize(
    "pressed",
    [
        pytest.param(["1"], id="pulse"),
        pytest.param([*"jjjj", "g", "right"], id="charts"),
        pytest.param(["g", "right"], id="bounded"),
        pytest.param(["6", "m", "home", "j"], id="alerts"),
    ],
)
def test_screen(snap_compare: Compare, pressed: list[str], size: tuple[int, int]) -> None:
    assert snap_compare(shop_app(), terminal_size=size, run_before=keys(*pressed))


@NARROW_AND_WIDE
@pytest.mark.parametrize("pressed", ["1", "6"], ids=["pulse", "alerts"])
def test_light(snap_compare: Compare, pressed: str, size: tuple[int, int]) -> None:
    assert snap_compare(shop_app("light"), terminal_size=size, run_before=keys(pressed))


@ALL_SIZES
def test_charts_help(snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(shop_app(), terminal_size=size, run_before=keys(*"jjjj", "g", "question_mark"))


def test_a_group_with_its_small_charts(snap_compare: Compare) -> None:
    assert snap_compare(shop_app(), terminal_size=SIZES[2], run_before=keys(*"jjjj", "enter"))
