"""Names, plans, outcomes, jobs and records that want to be more than text, in every screen of acting."""

from msgspec.structs import replace
from textual import events

from streamops.errors import ApplyError
from streamops.model.acting import Action, Actor, Failed, Impact, Job, Outcome, Plan, Progress, Skipped
from streamops.model.fields import FieldKind, IntentField
from streamops.tui.acting.questions import read_answer, written
from streamops.tui.app import StreamopsApp
from tests.support.invented import seconds
from tests.support.tui import acts, hostile
from tests.support.tui.driving import NARROW, press, running, shown
from tests.support.tui.hostile import EVERYTHING, check_screen, press_checked
from tests.support.tui.source import InventedSource, app_for


def plan(text: str) -> Plan:
    return Plan(
        operation=f"op{text}", target=f"t{text}", impact=Impact.REVERSIBLE, count=2, sample=(f"s{text}",) * 2,
        effects=(f"e{text}",), loses=f"l{text}", undo=f"u{text}", command=f"c{text}", confirm=f"n{text}",
        held_back_by=f"h{text}", warnings=(f"w{text}",), fingerprint=f"f{text}",
    )  # fmt: skip


def outcome(text: str) -> Outcome:
    return Outcome(
        operation=f"op{text}", target=f"t{text}", requested=2, applied=1, skipped=(Skipped(f"i{text}", f"r{text}"),),
        skipped_count=1, failed=(Failed(f"i{text}", f"x{text}"),), failed_count=1, notes=(f"n{text}",),
        job=f"j{text}", audit_id="1773489600000-0", complete=False, stopped=f"p{text}",
    )  # fmt: skip


def job(text: str) -> Job:
    return replace(
        acts.JOB, operation=f"op{text}", target=f"t{text}", owner=f"o{text}", cursor=f"c{text}",
        audit_id=f"a{text}", intent=text.encode("utf-8", "surrogatepass"),
    )  # fmt: skip


def action(text: str) -> Action:
    made = acts.action(1, plan(text), outcome(text), f"why{text}", f"by{text}")
    actor = Actor(f"u{text}", f"h{text}", 1, f"c{text}")
    return Action(replace(made.first, actor=actor), made.last)


def source(text: str) -> InventedSource:
    made = hostile.source(text)
    made.plan, made.outcome = plan(text), outcome(text)
    made.steps = (Progress(1, 2, seconds(1), f"j{text}"),)
    made.actions, made.jobs = (action(text),), (job(text),)
    return made


# A form, its plan, the outcome; the same from pending entries; the audit log; jobs.
WALK = (
    ["C", "up", "down", *"x", "enter", "pagedown", "tab", "enter", "pagedown", "escape"],
    ["enter", "l", "space", "A", "tab", "enter", "tab", "enter", "z", "escape", "escape"],
    ["1", "at", "enter", "pagedown", "question_mark", "question_mark", "escape", "z", "escape", "escape"],
    ["1", "4", "4", "enter", "question_mark", "question_mark", "escape", "X", "R", "escape", "escape", "yc"],
)


async def test_hostile_text_is_only_text_in_forms_plans_and_outcomes() -> None:
    made = source(EVERYTHING)
    app = app_for(made)
    async with running(app, NARROW):
        for keys in WALK[:2]:
            await press_checked(app, keys)
        assert made.applied
        assert not app._exit
        intent = made.planned[0][0]
        assert (intent.stream, intent.group) == (f"s{EVERYTHING}", f"g{EVERYTHING}")  # type: ignore[union-attr]


async def test_hostile_text_is_only_text_in_the_audit_log_and_jobs() -> None:
    app = app_for(source(EVERYTHING))
    async with running(app, NARROW):
        for keys in WALK[2:]:
            await press_checked(app, keys)
        assert not app._exit


async def test_hostile_errors_are_only_text() -> None:
    what, hint = f"what {EVERYTHING}", f"hint {EVERYTHING}"
    made = source("x")
    made.outcome = ApplyError(what, hint, outcome(EVERYTHING))
    app = app_for(made)
    async with running(app, NARROW):
        await press(app, "C", "x", "enter", "tab", "enter")
        await shown(app, "✗ what")
        check_screen(app)


async def test_a_paste_into_a_form_or_a_consent_is_only_text() -> None:
    made = source("x")
    made.plan = replace(plan("x"), impact=Impact.DESTRUCTIVE)
    app = app_for(made)
    async with running(app, NARROW):
        await press(app, "C")
        await paste(app)
        await press(app, "enter", "tab")
        await paste(app)
        await press(app, "enter")
        check_screen(app)
        assert not made.applied


async def paste(app: StreamopsApp) -> None:
    app.post_message(events.Paste("\x1b]52;c;SEVMTE8=\x07 [/x] \u202e"))
    await press(app, "x")
    check_screen(app)


def test_values_are_shown_safely() -> None:
    pair = IntentField(name="edit", kind=FieldKind.PAIR, help="", many=True, default=())
    shown_text = written(((b"a b", b"\x1b[31m"),))
    assert shown_text.isprintable()
    assert read_answer(pair, written(((b"a b", b"c"),))) == ((b"a b", b"c"),)
