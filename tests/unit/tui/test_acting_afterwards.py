"""After the deed: what is told of it, how it is undone, and how it is found again."""

from msgspec.structs import replace

from streamops.model.acting import Action
from streamops.model.streams import ReadError
from tests.support.tui import acts
from tests.support.tui.acting_shop import CLAIM_PLAN, planned
from tests.support.tui.driving import NARROW, bar, crumbs, press, running, screen_text, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for


async def test_outcome_is_copied_by_y_and_undone_by_a_plan_of_z() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "c")
        assert app.clipboard == acts.CLAIM.command
        await press(app, "tab", "enter")
        await shown(app, "10 of 12")
        await press(app, "y")
        assert app.clipboard == acts.DONE.audit_id
        await press(app, "z")
        await until(app, lambda: len(source.planned) == 2)
        assert str(planned(source).audit_id) == acts.DONE.audit_id
        assert len(source.applied) == 1
        await press(app, "escape", "3", "z")
        await until(app, lambda: len(source.planned) == 3)
        assert planned(source) == source.planned[1][0]


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
        await press(app, *"jj", "enter", "l", "A", "enter", "tab", *"12", "enter")
        await shown(app, "10 of 12")
        source.pending = source.pending[1:]
        reads = len(source.asked)
        await press(app, "enter")
        assert crumbs(app) == "prod ▸ orders ▸ fulfilment ▸ pending"
        await until(app, lambda: len(source.asked) >= reads)


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
        await shown(app, "ada@bastion-1, process 4711")
        await press(app, "z")
        await until(app, lambda: bool(source.planned))
        assert str(planned(source).audit_id) == many[0].first.id


async def test_the_audit_log_tells_a_controller_from_a_person_and_keeps_its_pane_in_a_small_terminal() -> (
    None
):
    mine = acts.action(1, replace(acts.CLAIM, operation="scale.set"), acts.DONE)
    its = Action(replace(mine.first, intent=b'{"pool":"billing","because":"lag grows"}'), mine.last)
    app = app_for(
        shop_source(actions=(its, *(acts.action(at, acts.CLAIM, acts.DONE) for at in range(2, 40))))
    )
    async with running(app, NARROW):
        await press(app, "7")
        await shown(app, "controller@")
        assert screen_text(app).count("controller@") == 2
        await shown(app, "controller@bastion-1, process 4711")


async def test_what_cannot_be_undone_offers_no_undo_and_z_says_why() -> None:
    source = shop_source(actions=(acts.action(1, replace(acts.CLAIM, undo=""), acts.DONE),))
    app = app_for(source)
    async with running(app):
        await press(app, "at")
        await shown(app, "✓ done, 2 skipped")
        assert "undo" not in bar(app, "keys")
        await press(app, "z")
        await shown(app, "undo: claim has no undo")
        assert not source.planned


async def test_jobs_in_a_narrow_terminal_have_the_pane_under_the_list() -> None:
    app = app_for(shop_source(jobs=(acts.JOB,)))
    async with running(app, NARROW):
        await press(app, "4", "4")
        await shown(app, acts.JOB.id)
        pane = app.frame.query_one("#pane")
        await until(app, lambda: pane.display and pane.region.y > app.frame.query_one("#main").region.y)


async def test_jobs_that_cannot_be_read_are_told_beside_the_list_and_without_one() -> None:
    source = shop_source(jobs=(acts.JOB,))
    source.job_gaps = tuple(
        ReadError("nothing of ours", part=f"streamops:job:{number}") for number in range(2)
    )
    app = app_for(source)
    async with running(app):
        await press(app, "4", "4")
        await shown(app, "▸ running")
        await shown(app, "not readable: streamops:job:0: nothing of ours, and 1")
    source.jobs = ()
    app = app_for(source)
    async with running(app):
        await press(app, "4", "4")
        await shown(app, "not readable: streamops:job:0: nothing of ours, and 1")


async def test_a_job_is_resumed_by_a_plan_and_stopped_by_its_key_twice() -> None:
    source = shop_source(jobs=(acts.JOB,))
    app = app_for(source)
    async with running(app):
        await press(app, "4", "4")
        await shown(app, "▸ running")
        await press(app, "X")
        await shown(app, "X once more stops job 4f1c09ab12cd")
        assert not source.cancelled
        await press(app, "X")
        await shown(app, "stops after its batch")
        assert source.cancelled == [acts.JOB.id]
        await press(app, "R")
        await shown(app, "12 entries of worker-7 will belong to worker-5")
        assert source.planned[-1][0] == acts.JOB.id
