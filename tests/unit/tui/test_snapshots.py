"""What each kind of screen looks like, once: a list, charts, an entry, a form and a plan. After a change that is meant: ``--snapshot-update``.

What each single screen holds is in the test of its own file.
"""

import msgspec
import pytest

from streamops.model.entries import EntryId, StreamEntry
from streamops.tui.app import StreamopsApp
from streamops.tui.history import alerts
from streamops.tui.polling.app_state import Loss
from tests.support.tui import acts, sample
from tests.support.tui.acting_shop import CLAIM_FORM
from tests.support.tui.driving import press, until
from tests.support.tui.overview_source import PulseSource, fed
from tests.support.tui.shop import shop_source
from tests.support.tui.snapshots import Compare, Look, hold, looking
from tests.support.tui.source import app_for

pytestmark = pytest.mark.usefixtures("own_directories")


@pytest.fixture
def look(snap_compare: Compare) -> Look:
    return looking(snap_compare)


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
def test_the_status_screen_looks_as_recorded_wide_and_narrow(look: Look, *, narrow: bool) -> None:
    look(app_for(shop_source()), narrow=narrow)


@pytest.mark.parametrize("theme", ["light", "terminal"])
def test_the_palettes_look_as_recorded(look: Look, theme: str) -> None:
    look(app_for(shop_source(), theme=theme), "o", "o", "o")


def test_a_lost_connection_looks_as_recorded(look: Look) -> None:
    lost = Loss(
        "cannot connect to redis.shop.example:6379: connection refused", "check that the server runs", None
    )

    async def lose(app: StreamopsApp) -> None:
        hold(app, loss=lost)

    look(app_for(shop_source()), "j", change=lose)


KEY = "{clicks}:payload:4f1c"
RETRY = StreamEntry(
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
ENTRY = [*"jjjj", "t", "see following", "enter", "see its payload", "enter", "see EUR", *["tab"] * 4, "d", "see json · 51 B"]  # fmt: skip


def test_an_entry_looks_as_recorded(look: Look) -> None:
    made = shop_source(entries=(*sample.entries(), RETRY))
    made.payloads[KEY] = b'{"lines": 1200, "currency": "EUR"}'
    look(app_for(made), *ENTRY)


@pytest.mark.parametrize(
    "keys", [pytest.param(["1"], id="pulse"), pytest.param([*"jj", "g", "right"], id="charts")]
)
def test_what_changes_looks_as_recorded(look: Look, monkeypatch: pytest.MonkeyPatch, keys: list[str]) -> None:
    monkeypatch.setattr(alerts, "MetricsHistory", fed(sample.shop(), count=60, apart=30))

    async def notice(app: StreamopsApp) -> None:
        await until(app, lambda: bool(app.app_state.alerts))
        await press(app, *keys)

    look(app_for(PulseSource(sample.shop())), change=notice)


def test_a_form_with_a_wrong_answer_looks_as_recorded(look: Look) -> None:
    look(app_for(shop_source()), *CLAIM_FORM, *"w", "down", "down", *"soon", "enter")


def test_a_plan_that_loses_looks_as_recorded(look: Look) -> None:
    look(app_for(shop_source(plan=acts.TRIM)), *CLAIM_FORM, "space", "enter", "see Cancel")
