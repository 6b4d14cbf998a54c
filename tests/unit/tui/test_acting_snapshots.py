"""What acting looks like: forms, plans of each tier, progress, outcomes, the audit log and jobs."""

from collections.abc import Awaitable, Callable
from time import monotonic

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from streamops.errors import StalePlan
from streamops.model.acting import JobState, Plan, Progress
from streamops.tui.app import StreamopsApp
from tests.support.invented import seconds
from tests.support.tui import acts, sample
from tests.support.tui.driving import press, until
from tests.support.tui.snapshots import Compare, hold
from tests.support.tui.source import InventedSource, app_for

SIZES = [(80, 24), (120, 40)]
sized = pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
FORM = [*"jjjj", "enter", "end", "C"]
PLAN = [*FORM, *"worker-5", "enter"]
STEPS = (Progress(410_000, 1_000_000, seconds(6.7), acts.JOB.id),)


def shop(**changes: object) -> InventedSource:
    source = InventedSource(sample.shop(), sample.entries(), sample.pending_rows())
    for name, value in changes.items():
        setattr(source, name, value)
    return source


def keys(*pressed: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Wait for the first observation, press keys, and hold every age at zero."""

    async def prepare(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, StreamopsApp)
        await until(app, lambda: app.moment.observation is not None)
        hold(app, arrived=monotonic() + 3600)
        await press(app, *pressed)
        await pilot.pause(0.3)
        if hasattr(app.frame, "_counted_at"):
            app.frame._counted_at = monotonic() + 3600
            app.frame.show_bars()
        await pilot.pause()

    return prepare


def look(snap_compare: Compare, source: InventedSource, size: tuple[int, int], *pressed: str) -> None:
    assert snap_compare(app_for(source), terminal_size=size, run_before=keys(*pressed))


@sized
def test_form(snap_compare: Compare, size: tuple[int, int]) -> None:
    look(snap_compare, shop(), size, *FORM)


@sized
def test_form_with_a_wrong_answer(snap_compare: Compare, size: tuple[int, int]) -> None:
    look(snap_compare, shop(), size, *FORM, *"w", "down", "down", *"soon", "enter")


def test_form_with_choices(snap_compare: Compare) -> None:
    look(snap_compare, shop(), SIZES[0], *"jjjj", "T", "down", "down", "down", "space")


@sized
@pytest.mark.parametrize("plan", [acts.CLAIM, acts.ACK, acts.TRIM], ids=["tier 1", "tier 2", "tier 3"])
def test_plan(snap_compare: Compare, plan: Plan, size: tuple[int, int]) -> None:
    look(snap_compare, shop(plan=plan), size, *PLAN)


def test_plan_typed(snap_compare: Compare) -> None:
    look(snap_compare, shop(plan=acts.ACK), SIZES[0], *PLAN, "tab", *"12")


def test_plan_of_nothing(snap_compare: Compare) -> None:
    nothing = replace(acts.CLAIM, count=0, sample=(), effects=(), undo="")
    look(snap_compare, shop(plan=nothing), SIZES[0], *PLAN)


def test_plan_refused(snap_compare: Compare) -> None:
    stale = StalePlan(
        "group orders/fulfilment: it was set back since the plan", "Look again, and make a new plan."
    )
    look(snap_compare, shop(plan=stale), SIZES[0], *PLAN)


@sized
def test_progress(snap_compare: Compare, size: tuple[int, int]) -> None:
    source = shop(plan=replace(acts.CLAIM, count=1_000_000), steps=STEPS)
    source.hold.clear()
    look(snap_compare, source, size, *PLAN, "tab", "enter")


def test_progress_is_told_wherever_one_looks(snap_compare: Compare) -> None:
    source = shop(plan=replace(acts.CLAIM, count=1_000_000), steps=STEPS)
    source.hold.clear()
    look(snap_compare, source, SIZES[0], *PLAN, "tab", "enter", "3")


@sized
def test_outcome(snap_compare: Compare, size: tuple[int, int]) -> None:
    look(snap_compare, shop(), size, *PLAN, "tab", "enter")


@sized
def test_audit(snap_compare: Compare, size: tuple[int, int]) -> None:
    look(snap_compare, shop(actions=ACTIONS), size, "at", "down")


@sized
def test_action(snap_compare: Compare, size: tuple[int, int]) -> None:
    look(snap_compare, shop(actions=ACTIONS), size, "at", "down", "enter")


@sized
def test_jobs(snap_compare: Compare, size: tuple[int, int]) -> None:
    look(snap_compare, shop(jobs=JOBS), size, "4", "4")


def test_job(snap_compare: Compare) -> None:
    look(snap_compare, shop(jobs=JOBS), SIZES[0], "4", "4", "enter")


def test_marks(snap_compare: Compare) -> None:
    look(snap_compare, shop(), SIZES[0], *"jjjj", "enter", "l", "space", "space", "down", "space")


@sized
def test_read_only(snap_compare: Compare, size: tuple[int, int]) -> None:
    app = app_for(shop(), read_only=True)
    assert snap_compare(app, terminal_size=size, run_before=keys("j"))


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
