"""Acting under Pilot, on inventions: what opens, what has to be answered, what is told, and what is never done."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.errors import ApplyError, Forbidden, StalePlan, Unreachable
from streamops.model.acting import Assent, Environment, Limits, Progress
from streamops.model.acts.ack import AckIntent
from streamops.model.acts.claim import ClaimIntent
from streamops.tui.acting.answer_row import AnswerRow
from streamops.tui.app import StreamopsApp
from streamops.tui.subjects import KEYS
from tests.invented import seconds
from tests.tui import acts, sample
from tests.tui.driving import NARROW, bar, press, running, screen_text, settle, shown, until
from tests.tui.source import InventedSource, app_for

CLAIM_FORM = [*"jjjj", "enter", "end", "C"]
CLAIM_PLAN = [*CLAIM_FORM, *"worker-5", "enter"]
DRIFTED = StalePlan("stream orders: another server answers now", "Nothing was done. Look again.")


def shop_source(**changes: object) -> InventedSource:
    source = InventedSource(sample.shop(), sample.entries(), sample.pending_rows())
    for name, value in changes.items():
        setattr(source, name, value)
    return source


def crumbs(app: StreamopsApp) -> str:
    return bar(app, "crumbs")


def planned(source: InventedSource) -> Any:  # noqa: ANN401 - whichever intent it was
    return source.planned[-1][0]


# -- forms -------------------------------------------------------------------------------------------


async def test_a_capital_opens_a_form_filled_in_from_the_row_and_writes_nothing() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_FORM)
        await shown(app, "Take pending entries over")
        assert crumbs(app) == "prod ▸ orders ▸ fulfilment | claim"
        assert not source.planned
        await press(app, *"worker-5", "enter")
        await shown(app, "12 entries of worker-7 will belong to worker-5")
        assert planned(source) == ClaimIntent(
            stream="orders", group="fulfilment", to="worker-5", source="worker-7"
        )
        assert not source.applied


async def test_marked_rows_are_what_an_action_takes() -> None:
    source = shop_source(plan=acts.ACK)
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "enter", "l", "space", "space", "space", "A")
        await press(app, "enter")
        await until(app, lambda: bool(source.planned))
        ids = tuple(row.id for row in source.pending[:3])
        assert planned(source) == AckIntent(stream="orders", group="fulfilment", ids=ids)


@pytest.mark.parametrize(
    ("keys", "marked"),
    [
        ("space", 1),
        ("space space", 2),
        ("space up space", 0),
        ("asterisk", 14),
        ("asterisk u", 0),
        ("asterisk escape", 0),
    ],
)
async def test_marks_come_and_go(keys: str, marked: int) -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *"jjjj", "enter", "l", *keys.split())
        assert (f"● {marked} marked" in crumbs(app)) == bool(marked)
        assert "▸ pending" in crumbs(app)


async def test_a_wrong_answer_is_told_and_nothing_is_planned() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_FORM, "w", "down", "down", *"soon", "enter")
        await shown(app, "✗ not a duration")
        await press(app, "backspace")
        assert "not a duration" not in screen_text(app)
        assert not source.planned


async def test_what_has_to_be_given_is_asked_for() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_FORM, "enter")
        await shown(app, "✗ this has to be given")
        assert not source.planned


async def test_the_form_holds_the_engine_to_limits_and_a_reason() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_FORM, "w", *["down"] * 5, *"50", "down", *"2.5", "down", *"INC", "enter")
        await until(app, lambda: bool(source.planned))
        assert source.planned[-1][1] == Limits(max_count=50, rate=2.5, reason="INC")


async def test_escape_leads_back_from_the_plan_to_the_form_as_it_was() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "[ Cancel ]")
        await press(app, "escape")
        await shown(app, "worker-5")
        await press(app, "escape")
        assert crumbs(app) == "prod ▸ orders ▸ fulfilment"


# -- consent -----------------------------------------------------------------------------------------


async def test_cancel_has_the_focus_and_leaves_everything_as_it_was() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Tab, then Enter applies")
        await press(app, "enter")
        assert crumbs(app) == "prod ▸ orders ▸ fulfilment"
        assert not source.applied


async def test_tab_leads_to_apply_in_production() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "10 of 12")
        assert source.applied == [(acts.CLAIM, Assent(yes=True))]


async def test_saying_yes_twice_does_it_once() -> None:
    source = shop_source(plan=acts.CLAIM)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "[ Apply ]")
        row = app.frame.query_one(AnswerRow)
        for _ in range(3):
            row.post_message(AnswerRow.Agreed(""))
        await shown(app, "10 of 12")
        assert len(source.applied) == 1


async def test_enter_is_enough_in_development() -> None:
    source = shop_source(environment=Environment.DEVELOPMENT)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Enter applies")
        await press(app, "enter")
        await shown(app, "10 of 12")


@pytest.mark.parametrize(("plan", "word"), [(acts.ACK, "12"), (acts.TRIM, "orders")])
async def test_what_has_to_be_typed_must_be_typed_exactly(plan: Any, word: str) -> None:  # noqa: ANN401 - a plan
    source = shop_source(plan=plan)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, f"Tab, then type {word}")
        await press(app, "tab", "enter", *word[:-1], "enter", "x", "enter")
        assert not source.applied
        await press(app, "backspace", word[-1])
        await shown(app, "Enter applies")
        await press(app, "enter")
        await shown(app, "10 of 12")
        assert source.applied == [(plan, Assent(yes=True, typed=word))]


@pytest.mark.parametrize(
    "name", ["a\x1b]52;c;eA==\x07", "\udcff\udcfe", "[@click=app.bell]x[/]", "\u202eabc"]
)
async def test_a_name_that_cannot_be_typed_is_typed_as_it_is_shown(name: str) -> None:
    source = shop_source(plan=replace(acts.TRIM, confirm=name))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab")
        said = bar_text(app)
        await press(app, *said)
        await press(app, "enter")
        await until(app, lambda: bool(source.applied))
        assert source.applied[0][1] == Assent(yes=True, typed=name)


def bar_text(app: StreamopsApp) -> str:
    """What the plan asks to be typed, as it is shown."""
    return app.frame.query_one("#says").text.removeprefix("Tab, then type ").strip()  # type: ignore[attr-defined, no-any-return]


async def test_an_empty_plan_has_nothing_to_apply() -> None:
    source = shop_source(plan=replace(acts.CLAIM, count=0))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Nothing is selected")
        assert "Apply" not in screen_text(app)
        await press(app, "enter")
        assert crumbs(app) == "prod ▸ orders ▸ fulfilment"


# -- counting again, and errors ----------------------------------------------------------------------


async def test_counting_again_shows_what_changed_and_asks_for_the_new_count() -> None:
    source = shop_source(plan=acts.ACK)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Tab, then type 12")
        source.plan = replace(acts.ACK, count=9, fingerprint="another")
        await press(app, "r")
        await shown(app, "‖ changed since it was counted before: it was 12 entries")
        await shown(app, "Tab, then type 9")
        await press(app, "tab", *"12", "enter")
        assert not source.applied


async def test_a_plan_that_cannot_be_made_says_why_and_can_be_tried_again() -> None:
    source = shop_source(
        plan=Forbidden("claim orders: more than 1,000,000 selected", "Narrow the selection.")
    )
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "✗ claim orders: more than 1,000,000 selected")
        await shown(app, "→ Narrow the selection.")
        source.plan = acts.CLAIM
        await press(app, "r")
        await shown(app, "[ Apply ]")


async def test_drift_is_told_and_a_new_plan_can_be_made() -> None:
    source = shop_source(outcome=DRIFTED)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "✗ stream orders: another server answers now")
        await shown(app, "→ Nothing was done. Look again.")
        await press(app, "tab", "enter")
        await shown(app, "[ Apply ]")
        assert len(source.planned) == 2


async def test_what_was_done_before_an_error_is_told_with_it() -> None:
    partial = replace(
        acts.DONE, applied=4, complete=False, stopped="the server went away", job="4f1c09ab12cd"
    )
    source = shop_source(outcome=ApplyError("the server went away", "Resume it.", partial))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "✗ the server went away")
        await shown(app, "4 of 12")
        await shown(app, "4f1c09ab12cd")


async def test_a_failure_nobody_foresaw_is_told_too() -> None:
    source = shop_source(outcome=RuntimeError("[@click=app.bell]what[/]"))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "✗ internal error: RuntimeError: [@click=app.bell]what[/]")


async def test_without_a_connection_nothing_is_done() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "[ Apply ]")
        app.live.source = None
        await press(app, "tab", "enter")
        await shown(app, "not connected: nothing was done")
        assert not source.applied


# -- under way ---------------------------------------------------------------------------------------


def long_work(**changes: object) -> InventedSource:
    step = Progress(410_000, 1_000_000, seconds(6.7), acts.JOB.id)
    source = shop_source(
        plan=replace(acts.CLAIM, count=1_000_000), steps=(step,), jobs=(acts.JOB,), **changes
    )
    source.hold.clear()
    return source


async def test_progress_shows_and_escape_stops_after_the_batch_under_way() -> None:
    source = long_work(outcome=replace(acts.DONE, applied=7, complete=False, stopped="interrupted"))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "410,000 of 1,000,000 entries · 61.1k/s · about 9.6s left")
        assert "▸ claim orders/fulfilment 41 %" in bar(app, "status")
        await press(app, "escape")
        await shown(app, "✗ interrupted")
        await shown(app, "7 of 12")


async def test_work_goes_on_when_its_screen_is_left_and_tells_when_it_is_done() -> None:
    source = long_work()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "410,000 of 1,000,000")
        polls = source.polls
        await press(app, "3")
        await until(app, lambda: "▸ claim orders/fulfilment 41 %" in bar(app, "status"))
        source.hold.set()
        await shown(app, "claim orders/fulfilment: 10 done; @ tells more")
        await until(app, lambda: source.polls > polls)
        assert "▸ claim" not in bar(app, "status")


async def test_work_of_this_console_is_found_again_among_the_jobs() -> None:
    source = long_work()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "410,000 of 1,000,000")
        await press(app, "3", "4", "4")
        await shown(app, "4f1c09ab12cd")
        await press(app, "enter")
        await shown(app, "410,000 of 1,000,000")
        source.hold.set()
        await shown(app, "10 of 12")


async def test_quitting_stops_what_is_under_way_first() -> None:
    source = long_work()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "410,000 of 1,000,000")
        await press(app, "ctrl+q")
        await until(app, lambda: bool(app._exit))
        assert not app.running


async def test_another_context_has_to_wait_for_what_is_under_way() -> None:
    source = long_work()
    app = app_for(source, InventedSource(sample.observation()))
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "410,000 of 1,000,000")
        app.switch_context("staging")
        await shown(app, "is under way here")
        assert app.moment.context.name == "prod"
        source.hold.set()
        await until(app, lambda: not app.running)


# -- afterwards --------------------------------------------------------------------------------------


async def test_z_plans_to_undo_what_was_done() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "10 of 12")
        await press(app, "z")
        await until(app, lambda: len(source.planned) == 2)
        assert str(planned(source).audit_id) == acts.DONE.audit_id
        assert len(source.applied) == 1


async def test_z_does_nothing_where_nothing_can_be_undone() -> None:
    source = shop_source(plan=replace(acts.CLAIM, undo=""))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "10 of 12")
        await press(app, "z")
        assert len(source.planned) == 1
        assert "undo" not in bar(app, "keys")


async def test_closing_leads_back_to_where_one_acted_from_and_it_is_read_again() -> None:
    source = shop_source(plan=acts.ACK)
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "enter", "l", "A", "enter", "tab", *"12", "enter")
        await shown(app, "10 of 12")
        source.pending = source.pending[1:]
        reads = len(source.asked)
        await press(app, "enter")
        assert crumbs(app) == "prod ▸ orders ▸ fulfilment ▸ pending"
        await until(app, lambda: len(source.asked) >= reads)


async def test_c_copies_the_equivalent_command_and_y_what_it_is_found_by() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *CLAIM_PLAN, "c")
        assert app.clipboard == acts.CLAIM.command
        await press(app, "tab", "enter")
        await shown(app, "10 of 12")
        await press(app, "y")
        assert app.clipboard == acts.DONE.audit_id


async def test_the_audit_log_shows_who_did_what_and_z_undoes() -> None:
    many = tuple(acts.action(number, acts.CLAIM, acts.DONE) for number in range(300, 0, -1))
    source = shop_source(actions=many)
    app = app_for(source)
    async with running(app):
        await press(app, "at")
        await shown(app, "✓ done, 2 skipped")
        await until(app, lambda: len(app.frame.query_one("#main").rows) == 100)  # type: ignore[attr-defined]
        await press(app, "end")
        await until(app, lambda: len(app.frame.query_one("#main").rows) == 200)  # type: ignore[attr-defined]
        await press(app, "home", "enter")
        await shown(app, "ada@bastion-1:4711 in prod, production")
        await press(app, "z")
        await until(app, lambda: bool(source.planned))
        assert str(planned(source).audit_id) == many[0].first.id


async def test_a_job_is_resumed_by_a_plan_and_stopped_by_its_key_twice() -> None:
    source = shop_source(jobs=(acts.JOB,))
    app = app_for(source)
    async with running(app):
        await press(app, "4", "4")
        await shown(app, "▸ running")
        await press(app, "s")
        await shown(app, "s once more stops job 4f1c09ab12cd")
        assert not source.cancelled
        await press(app, "s")
        await shown(app, "stops after its batch")
        assert source.cancelled == [acts.JOB.id]
        await press(app, "R")
        await shown(app, "12 entries of worker-7 will belong to worker-5")
        assert source.planned[-1][0] == acts.JOB.id


# -- what is never done ------------------------------------------------------------------------------


async def test_no_single_key_does_anything_to_the_server() -> None:
    source = shop_source(jobs=(acts.JOB,), actions=(acts.action(1, acts.CLAIM, acts.DONE),))
    app = app_for(source)
    # Of a small terminal, because each of a thousand keys draws it.
    async with running(app, NARROW):
        for way in ([], ["enter"], ["enter", "l"], ["t"], ["at"], ["4"]):
            for key in [*KEYS, *"EPSZzs", "space", "delete"]:
                await press(app, *way, key, "escape", "3")
        assert not source.applied
        assert not source.cancelled


async def test_read_only_has_no_capitals_and_says_so() -> None:
    source = shop_source(jobs=(acts.JOB,), actions=(acts.action(1, acts.CLAIM, acts.DONE),))
    app = app_for(source, read_only=True)
    async with running(app):
        assert "read-only" in bar(app, "header")
        assert " plan" not in bar(app, "keys")
        for way in ([], ["enter"], ["enter", "l"], ["4"], ["4", "4"], ["5"], ["at"]):
            await press(app, "3", *way, *KEYS, *"szz")
        assert not source.planned
        assert not source.cancelled
        await shown(app, "read-only: nothing is changed here")


async def test_read_only_is_refused_below_the_face_too() -> None:
    source = shop_source(read_only=True)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "✗ read-only: nothing is changed here")
        assert not source.applied


async def test_the_palette_offers_what_fits_the_row() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "ctrl+p")
        await press(app, *"groups create")
        await shown(app, "Plan: groups create")
        await press(app, "enter")
        await until(app, lambda: crumbs(app).endswith("groups.create"))
        await shown(app, "clicks")


async def test_a_lost_connection_while_planning_is_told_in_the_plan() -> None:
    source = shop_source(plan=Unreachable("cannot connect: refused", "check that the server runs"))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "✗ cannot connect: refused")
        await settle(app)


def test_the_first_screen_imports_nothing_of_acting() -> None:
    code = (
        "import sys, streamops.tui.app;"
        "sys.exit(any(name in sys.modules for name in "
        "('redis', 'streamops.tui.acting', 'streamops.tui.screens.form', 'streamops.operate.acting.engine')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_two_deeds_go_on_side_by_side() -> None:
    source = long_work()
    app = app_for(source)
    async with running(app):
        for _ in range(2):
            await press(app, "3", *CLAIM_PLAN, "tab", "enter")
            await shown(app, "410,000 of 1,000,000")
        assert len(app.running) == 2
        source.hold.set()
        await until(app, lambda: not app.running)
        await asyncio.sleep(0)


async def test_where_a_form_does_not_fit_the_arrows_still_go_from_field_to_field() -> None:
    app = app_for(shop_source())
    async with running(app, (80, 14)):
        await press(app, *"jjjj", "C")
        fields = [app.focused]
        for _ in range(6):
            await press(app, "down")
            fields.append(app.focused)
        assert len(set(fields)) == len(fields)
