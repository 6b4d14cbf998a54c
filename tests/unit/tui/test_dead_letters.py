"""Dead letters: queues, the letters of one, one letter; what is marked and planned, and the fields that are edited."""

from msgspec.structs import replace
from textual.widgets import Input

from streamops.errors import NotFound, Refused
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.tui import routes
from streamops.tui.polling.poller import Observed
from tests.support.invented import entry_id, minutes
from tests.support.tui import acts, sample
from tests.support.tui.acting_shop import planned
from tests.support.tui.driving import (
    NARROW,
    bar,
    crumbs,
    list_of,
    names,
    press,
    running,
    screen_text,
    shown,
    until,
)
from tests.support.tui.invented_beside import QUEUE, letter
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

TO_LETTERS = ["4", "enter"]


async def test_the_key_leads_to_queues_then_to_jobs_and_back_without_piling_up() -> None:
    source = shop_source()
    source.jobs = (acts.JOB,)
    app = app_for(source)
    async with running(app):
        await press(app, "4")
        await shown(app, "max-deliveries")
        assert bar(app, "crumbs").startswith("prod ▸ dead letters | 18 dead letters")
        assert source.beside.asked[0] == ("queues", (QUEUE,))
        await press(app, "4")
        await shown(app, "4f1c09ab12cd")
        await press(app, "4", "4", "4")
        assert len(app.screen_stack) == 2
        await press(app, "escape")
        assert crumbs(app) == "prod"


async def test_a_queue_is_summed_up_and_each_letter_newest_first_tells_why_it_died() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_LETTERS)
        await shown(app, "18 dead letters of payments · oldest 2h01m, newest 2m00s")
        await shown(app, "timeout ████████ 10")
        await shown(app, "payments ▸ ledger ████████ 15")
        assert names(app)[0] == str(source.beside.letters[-1].id)
        await shown(app, "TimeoutError: the bank did")
        assert app.frame.command_text() == f"streamops -c prod dlq ls {QUEUE}"
        await press(app, "enter")
        await shown(app, "Its trace")
        await shown(app, "ledger: not pending: it gave the entry up")
        await shown(app, "leave it")
        assert ("trace", "payments", entry_id(minutes(5))) in source.beside.asked
        await press(app, "a")
        await shown(app, "▸ trace")


async def test_ages_go_on_between_two_reads_of_a_queue() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_LETTERS)
        await until(app, lambda: bool(list_of(app).rows))
        newest = list_of(app).rows[0].letter.id  # type: ignore[attr-defined]
        shop = sample.shop()
        later = newest.time + minutes(47)
        # Not by r, which reads the queue anew.
        observation = replace(shop, snapshot=replace(shop.snapshot, collected_at=later))
        app.post_message(Observed("prod", observation, 1.0, app.app_state.pace))
        await until(app, lambda: list_of(app).rows[0].age == minutes(47))  # type: ignore[attr-defined]


async def test_the_next_page_is_read_near_the_end() -> None:
    source = shop_source()
    source.beside.letters = tuple(letter(number) for number in range(249, -1, -1))
    app = app_for(source)
    async with running(app):
        await press(app, *TO_LETTERS)
        await until(app, lambda: len(list_of(app).rows) == 100)
        await shown(app, "and more")
        await press(app, "end")
        await until(app, lambda: len(list_of(app).rows) == 200)
        await press(app, "end")
        await until(app, lambda: len(list_of(app).rows) == 250)
        assert "and more" not in screen_text(app)


async def test_a_letter_that_is_gone_says_so() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        app.go(routes.DeadLetterRoute(QUEUE, entry_id(minutes(999))))
        await shown(app, f"queue {QUEUE} has no dead letter")


async def test_unreadable_letters_are_told_and_what_was_read_stays() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "4")
        await shown(app, QUEUE)
        source.beside.fails = Refused("NOPERM: this user may not run 'xrevrange'", "Ask for it.")
        await press(app, "r")
        await shown(app, "NOPERM")
        assert len(list_of(app).rows) == 1
        await press(app, "enter")
        await shown(app, "✗ NOPERM")


# -- which letters a plan takes ----------------------------------------------------------------------


async def test_marks_turned_round_are_their_ids_and_the_whole_queue_is_no_list_of_them() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_LETTERS)
        await until(app, lambda: len(list_of(app).rows) == 18)
        await press(app, "space", "exclamation_mark", "D", "enter")
        await until(app, lambda: bool(source.planned))
        intent = planned(source)
        assert isinstance(intent, PurgeIntent)
        assert intent.backup
        assert set(intent.ids) == {each.id for each in source.beside.letters[:-1]}
        await press(app, "escape", "escape", "u", "asterisk", "asterisk")
        assert "● the whole queue marked" in bar(app, "crumbs")
        await press(app, "R", "enter")
        await until(app, lambda: len(source.planned) == 2)
        assert planned(source) == ReplayIntent(queue=QUEUE)
        await press(app, "escape", "escape", "u")
        assert "marked" not in bar(app, "crumbs")


async def test_marks_under_a_filter_take_no_more_than_is_shown_and_count_what_is_hidden() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *TO_LETTERS)
        await until(app, lambda: len(list_of(app).rows) == 18)
        await press(app, "slash", *"rejected", "enter", "asterisk", "asterisk", "asterisk")
        assert "● 4 marked" in bar(app, "crumbs")
        await press(app, "escape", "escape", "space", "space", "slash", *"rejected", "enter", "space")
        assert "● 3 marked, 2 of them not shown" in bar(app, "crumbs")


async def test_an_expression_reads_such_letters_and_plans_by_it() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_LETTERS)
        await until(app, lambda: len(list_of(app).rows) == 18)
        await press(app, "equals_sign", *"reason == 'reje")
        await shown(app, "▲ ")
        await press(app, *"cted'", "enter")
        await until(app, lambda: len(list_of(app).rows) == 4)
        assert "where reason == 'rejected'" in bar(app, "crumbs")
        where = """streamops -c prod dlq ls '--where=reason == '"'"'rejected'"'"'' payments:dlq"""
        assert app.frame.command_text() == where
        await press(app, "asterisk", "asterisk")
        assert "● all that match marked" in bar(app, "crumbs")
        await press(app, "R", "enter")
        await until(app, lambda: bool(source.planned))
        assert planned(source) == ReplayIntent(queue=QUEUE, where="reason == 'rejected'")
        await press(app, "escape", "escape", "escape", "escape")
        await until(app, lambda: len(list_of(app).rows) == 18)
        assert "where" not in bar(app, "crumbs")


# -- editing -----------------------------------------------------------------------------------------


async def test_fields_are_edited_as_lines_and_become_edits_of_the_replay() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app, NARROW):
        await press(app, *TO_LETTERS)
        await shown(app, "18 dead letters")
        await press(app, "E")
        await shown(app, "Fields of 1 dead letter")
        await shown(app, "leave it\\nat the door")
        await shown(app, "6 B that are not text")
        await press(app, "end", "9", "down", "backspace", "down", "end", *"\\t!", "enter")
        await until(app, lambda: bool(source.planned))
        assert planned(source).edit == (
            (b"order", b"A-100009"),
            (b"amount", b"0.9"),
            (b"note", b"leave it\nat the door\t!"),
        )
        assert planned(source) == ReplayIntent(
            queue=QUEUE,
            ids=(source.beside.letters[-1].id,),
            edit=((b"order", b"A-100009"), (b"amount", b"0.9"), (b"note", b"leave it\nat the door\t!")),
        )


async def test_field_that_differs_between_letters_stays_unless_it_is_written() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_LETTERS)
        await until(app, lambda: len(list_of(app).rows) == 18)
        await press(app, "space", "space", "E")
        await shown(app, "Fields of 2 dead letters")
        await shown(app, "differs: empty keeps each dead letter's own")
        await press(app, "down", *"7.00", "enter")
        await until(app, lambda: bool(source.planned))
        intent = planned(source)
        assert len(intent.ids) == 2
        assert intent.edit == ((b"amount", b"7.00"),)


async def test_edit_that_means_nothing_or_of_a_redelivery_is_refused_by_the_form() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_LETTERS)
        await shown(app, "18 dead letters")
        for keys, why in (
            (["down", "down", "end", "\\", "q"], "✗ note: a backslash begins"),
            (["end", "9", *["down"] * 5, "space", "space"], "cannot be edited"),
        ):
            await press(app, "E")
            await shown(app, "Fields of 1 dead letter")
            await press(app, *keys, "enter")
            await shown(app, why)
            await press(app, "escape")
        assert not source.planned


async def test_replay_by_one_reason_is_planned_by_five_keys_from_its_queue() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "4")
        await until(app, lambda: bool(list_of(app).rows))
        await press(app, "R")
        await shown(app, "Space chooses: timeout 10, max-deliveries 4, rejected 4")
        await shown(app, "● automatic: republish")
        await press(app, "space", "down", "space", "enter")
        await until(app, lambda: bool(source.planned))
    intent = planned(source)
    assert isinstance(intent, ReplayIntent)
    assert (intent.because, intent.mode) == ("timeout", ReplayMode.REPUBLISH)


async def test_letters_that_cannot_be_read_leave_the_form_as_it_is() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_LETTERS)
        await shown(app, "18 dead letters")
        source.beside.fails = NotFound("there is no stream payments:dlq", "Make a new plan.")
        await press(app, "E")
        await shown(app, "✗ there is no stream payments:dlq")
        assert app.frame.query(Input)


async def test_the_dead_letters_of_a_stream_are_a_key_away() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "d")
        await shown(app, "18 dead letters of payments")
        await press(app, "escape", *"jjjj", "d")
        await shown(app, "no dead-letter queue of clicks is known")


async def test_a_reason_chosen_on_a_dead_letter_stands_for_all_of_that_reason() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_LETTERS)
        await shown(app, "18 dead letters")
        await press(app, "R")
        await shown(app, "Space chooses: timeout")
        await press(app, "space", "enter")
        await until(app, lambda: bool(source.planned))
    intent = planned(source)
    assert isinstance(intent, ReplayIntent)
    assert (intent.because, intent.ids) == ("timeout", ())
