"""What finding, help, an entry and another server look like. After a change that is meant: ``--snapshot-update``."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from time import monotonic

import msgspec
import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from streamops.model.entries import Entry
from streamops.model.ids import EntryId
from streamops.present.views import View
from streamops.tui.app import StreamopsApp
from streamops.tui.moment import Stranger
from streamops.tui.screens.search import SearchScreen
from tests.support.tui import sample
from tests.support.tui.driving import press, shown, until
from tests.support.tui.source import InventedSource, settings_for

Compare = Callable[..., bool]
Prepare = Callable[[Pilot[int]], Awaitable[None]]
SIZES = [(80, 24), (120, 40), (160, 50)]
KEY = "{clicks}:payload:4f1c"
VIEWS = {
    "stuck": View(filter="pending>0 idle>5m", sort="idle", columns=("stream", "group", "idle", "tries")),
    "billing": View(place="orders billing"),
    "faults": View(faults=True, sort="lag", descending=True),
}
RETRY = Entry(
    EntryId(1773489599999, 0),
    (
        (b"type", b"order.placed"),
        (b"order", b"A-10042"),
        (b"body", msgspec.json.encode({"id": 1, "items": [{"sku": "A", "n": 2}], "express": True})),
        (b"pack", msgspec.msgpack.encode({"a": [1, 2]})),
        (b"bytes", bytes(range(200, 224))),
        (b"_so_payload", KEY.encode()),
        (b"_so_origin", b"orders"),
        (b"_so_origin_id", b"1773489599000-0"),
        (b"_so_attempt", b"3"),
    ),
)


def shop_app() -> StreamopsApp:
    source = InventedSource(sample.shop(), (*sample.entries(), RETRY), sample.pending_rows())
    source.payloads[KEY] = b'{"lines": 1200, "currency": "EUR"}'
    return StreamopsApp(replace(settings_for(source), views=VIEWS))


SEE = "see "
"""What a step begins with that waits for words on the screen instead of pressing a key."""


def keys(*steps: str) -> Prepare:
    """Wait for the first observation, hold its age at zero, press keys, and let everything arrive."""

    async def prepare(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        await until(app, lambda: app.moment.observation is not None)
        app.live.moment = replace(app.moment, arrived=monotonic() + 3600)
        app.pass_down()
        for step in steps:
            if step.startswith(SEE):
                await shown(app, step.removeprefix(SEE))
            else:
                await press(app, step)
        await pilot.pause(0.1)

    return prepare


GROWN = "see json · 51 B"


@pytest.mark.parametrize(
    "pressed",
    [
        pytest.param(["slash", *"lga>5", "enter"], id="wrong_filter"),
        pytest.param(["slash", *"lag>1000 health:crit", "enter"], id="compared"),
        pytest.param(["slash", *"hea", "see health:"], id="completed"),
        pytest.param(["colon", *"orders ful", "see orders fulfilment"], id="go_to"),
        pytest.param(["h", *"jjjjj"], id="columns"),
        pytest.param(["w", "j"], id="views"),
        pytest.param(["colon", *"view stuck", "enter"], id="view"),
        pytest.param([*"jjjj", "question_mark"], id="help_of_a_finding"),
        pytest.param(["question_mark"], id="help_of_a_bound"),
        pytest.param(["t", "see following", "enter", "see its payload"], id="entry"),
        pytest.param(
            [
                "t",
                "see following",
                "enter",
                "see its payload",
                "enter",
                "see EUR",
                *["tab"] * 4,
                "d",
                GROWN,
            ],
            id="entry_decoded",
        ),
    ],
)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
def test_screen(snap_compare: Compare, pressed: list[str], size: tuple[int, int]) -> None:
    assert snap_compare(shop_app(), terminal_size=size, run_before=keys(*pressed))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
def test_search(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(pilot: Pilot[int]) -> None:
        await keys("s", *"paid !10039", "enter")(pilot)
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        screen = app.frame
        assert isinstance(screen, SearchScreen)
        await until(app, lambda: screen._scan.over)
        screen._scan = replace(screen._scan, took=timedelta(milliseconds=70))
        screen.show_bars()
        await pilot.pause()

    assert snap_compare(shop_app(), terminal_size=size, run_before=prepare)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
def test_another_server(snap_compare: Compare, size: tuple[int, int]) -> None:
    async def prepare(pilot: Pilot[int]) -> None:
        await keys("j")(pilot)
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        app.live.moment = replace(app.moment, stranger=Stranger(("4f1c" * 10,), ("b07e" * 10,)))
        app.pass_down()
        await pilot.pause()

    assert snap_compare(shop_app(), terminal_size=size, run_before=prepare)
