"""What the screens look like, once each. After a change that is meant: ``--snapshot-update``."""

from datetime import timedelta
from time import monotonic

import msgspec
import pytest
from msgspec.structs import replace

from streamops.errors import StalePlan
from streamops.model.acting import JobState, Plan, Progress
from streamops.model.entries import Entry
from streamops.model.ids import EntryId
from streamops.present.views import View
from streamops.tui import noticing
from streamops.tui.app import StreamopsApp
from streamops.tui.moment import Loss
from streamops.tui.screens.search import SearchScreen
from tests.support.invented import seconds
from tests.support.tui import acts, sample
from tests.support.tui.acting_shop import CLAIM_FORM, CLAIM_PLAN
from tests.support.tui.driving import press, until
from tests.support.tui.pulse_source import PulseSource, fed
from tests.support.tui.shop import shop_source
from tests.support.tui.snapshots import Compare, Look, hold, looking
from tests.support.tui.source import STAGING, InventedSource, app_for, settings_for

narrow = pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])


pytestmark = pytest.mark.usefixtures("own_directories")


@pytest.fixture
def look(snap_compare: Compare) -> Look:
    return looking(snap_compare)


# -- looking -----------------------------------------------------------------------------------------

TO_DELAYED = ["colon", *"delayed", "enter"]
TO_TOPICS = ["colon", *"topics", "enter"]


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(["2"], id="streams"),
        pytest.param(["2", *"jjj", "enter"], id="stream"),
        pytest.param([*"jjjj", "enter", "l", "down"], id="pending"),
        pytest.param(["t", "see following"], id="tail"),
        pytest.param([*"jjjjjj", "question_mark"], id="help"),
        pytest.param(["colon", *"ctx", "enter"], id="contexts"),
        pytest.param(["4"], id="dead_letter_queues"),
        pytest.param(["4", "enter", "down", "space", "space"], id="dead_letters"),
        pytest.param(["4", "enter", "enter"], id="dead_letter"),
        pytest.param(["4", "enter", "E"], id="edit"),
        pytest.param([*TO_DELAYED, "enter", "down"], id="delayed"),
        pytest.param([*TO_DELAYED, "enter", "down", "enter"], id="delayed_message"),
        pytest.param([*TO_TOPICS, "down", "enter"], id="topic"),
        pytest.param(["5", "down"], id="workers"),
        pytest.param(["5", "5", "down", "down", "r"], id="pools"),
        pytest.param(["5", "5", "enter"], id="pool"),
        pytest.param([*"jjjj", "enter", "l", "a"], id="trace"),
    ],
)
def test_each_screen_looks_as_recorded(look: Look, keys: list[str]) -> None:
    look(app_for(shop_source()), *keys)


@narrow
def test_the_status_screen_looks_as_recorded_wide_and_narrow(look: Look, *, narrow: bool) -> None:
    look(app_for(shop_source()), *"jjjjjj", narrow=narrow)


@narrow
def test_the_group_screen_looks_as_recorded_wide_and_narrow(look: Look, *, narrow: bool) -> None:
    look(app_for(shop_source()), *"jjjj", "enter", narrow=narrow)


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


def test_an_empty_server_elsewhere_looks_as_recorded(look: Look) -> None:
    async def switch(app: StreamopsApp) -> None:
        app.switch_context(STAGING.name)
        await until(app, lambda: app.moment.observation is not None)
        hold(app, arrived=monotonic() + 3600)

    look(app_for(shop_source(), InventedSource(sample.observation(complete=False))), change=switch)


# -- finding -----------------------------------------------------------------------------------------

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
ENTRY = ["t", "see following", "enter", "see its payload", "enter", "see EUR", *["tab"] * 4, "d", "see json · 51 B"]  # fmt: skip


def finder() -> StreamopsApp:
    made = shop_source(entries=(*sample.entries(), RETRY))
    made.payloads[KEY] = b'{"lines": 1200, "currency": "EUR"}'
    return StreamopsApp(replace(settings_for(made), views=VIEWS))


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(["colon", *"orders ful", "see orders fulfilment"], id="go_to"),
        pytest.param(["h", *"jjjjj"], id="columns"),
        pytest.param(["w", "j"], id="views"),
        pytest.param(ENTRY, id="entry_decoded"),
    ],
)
def test_each_way_of_finding_looks_as_recorded(look: Look, steps: list[str]) -> None:
    look(finder(), *steps)


def test_a_search_looks_as_recorded(look: Look) -> None:
    async def end(app: StreamopsApp) -> None:
        screen = app.frame
        assert isinstance(screen, SearchScreen)
        await until(app, lambda: screen._scan.over)
        screen._scan = replace(screen._scan, took=timedelta(milliseconds=70))

    look(finder(), "s", *"paid !10039", "enter", change=end)


# -- noticing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "narrow"),
    [
        pytest.param(["1"], False, id="pulse"),
        pytest.param([*"jjjj", "g", "right"], False, id="charts"),
        pytest.param(["6", "m", "home", "j"], False, id="alerts"),
    ],
)
def test_each_screen_of_change_looks_as_recorded(
    look: Look, monkeypatch: pytest.MonkeyPatch, keys: list[str], *, narrow: bool
) -> None:
    monkeypatch.setattr(noticing, "Past", fed(sample.shop(), count=60, apart=30))

    async def notice(app: StreamopsApp) -> None:
        await until(app, lambda: bool(app.moment.alerts))
        await press(app, *keys)

    look(app_for(PulseSource(sample.shop())), narrow=narrow, change=notice)


# -- acting ------------------------------------------------------------------------------------------

ACTIONS = (
    acts.action(40, acts.CLAIM, None, "worker-7 hangs"),
    acts.action(30, acts.CLAIM, acts.DONE, "worker-7 crashed, see INC-311"),
    acts.action(20, acts.ACK, replace(acts.DONE, operation="ack", stopped="interrupted", complete=False)),
    acts.action(10, acts.TRIM, replace(acts.DONE, operation="trim", target="orders", requested=9, applied=9)),
    acts.action(0, acts.CLAIM, acts.DONE, undone_by="1773489600020-0"),
)
JOBS = (
    acts.JOB,
    replace(acts.JOB, id="07aa31c5d2ef", state=JobState.INTERRUPTED, lease_ends=None, applied=3_000),
    replace(acts.JOB, id="93bd00c4aa10", operation="replay", target="payments:dlq", state=JobState.DONE,
            requested=18, applied=18, skipped=0, lease_ends=None),
)  # fmt: skip
STALE = StalePlan(
    "group orders/fulfilment: it was set back since the plan", "Look again, and make a new plan."
)


def test_a_form_with_a_wrong_answer_looks_as_recorded(look: Look) -> None:
    look(app_for(shop_source()), *CLAIM_FORM, *"w", "down", "down", *"soon", "enter")


@pytest.mark.parametrize("plan", [acts.CLAIM, acts.TRIM], ids=["reversible", "loses"])
def test_a_plan_of_each_tier_looks_as_recorded(look: Look, plan: Plan) -> None:
    look(app_for(shop_source(plan=plan)), *CLAIM_PLAN, "see Cancel")


def test_a_plan_on_a_narrow_terminal_looks_as_recorded(look: Look) -> None:
    look(app_for(shop_source(plan=acts.TRIM)), *CLAIM_PLAN, "see Cancel", narrow=True)


def test_a_refused_plan_looks_as_recorded(look: Look) -> None:
    look(app_for(shop_source(plan=STALE)), *CLAIM_PLAN, "see set back")


def test_progress_looks_as_recorded(look: Look) -> None:
    step = Progress(410_000, 1_000_000, seconds(6.7), acts.JOB.id)
    made = shop_source(plan=replace(acts.CLAIM, count=1_000_000), steps=(step,))
    made.hold.clear()
    look(app_for(made), *CLAIM_PLAN, "see Apply", "tab", "enter", "see 410,000")


def test_an_outcome_looks_as_recorded(look: Look) -> None:
    look(app_for(shop_source()), *CLAIM_PLAN, "see Apply", "tab", "enter", "see 10 of 12")


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(["at", "down"], id="audit"),
        pytest.param(["at", "down", "enter"], id="action"),
        pytest.param(["4", "4"], id="jobs"),
        pytest.param(["4", "4", "enter"], id="job"),
    ],
)
def test_each_record_of_what_was_done_looks_as_recorded(look: Look, keys: list[str]) -> None:
    look(app_for(shop_source(actions=ACTIONS, jobs=JOBS)), *keys)
