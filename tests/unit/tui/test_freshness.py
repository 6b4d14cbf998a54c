"""How fresh what is shown is: polls, freezing, pace, and lost connections."""

from datetime import timedelta
from time import monotonic

from textual import events

from streamops.errors import ExitCode, Refused
from streamops.tui.polling.app_state import Loss, ServerMismatch
from tests.support.tui import sample
from tests.support.tui.driving import bar, names, press, running, settle, shown, until
from tests.support.tui.shop import ALL, REFUSED, shop_source
from tests.support.tui.snapshots import hold
from tests.support.tui.source import InventedSource, app_for


async def test_a_new_observation_is_shown() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        source.observation = sample.observation(sample.stream_view("fresh"))
        await press(app, "r")
        await until(app, lambda: names(app) == ["fresh/-"])


async def test_freezing_keeps_the_screen_and_going_on_shows_the_newest() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "p")
        await shown(app, "‖ frozen, 0s old (p)")
        source.observation = sample.observation(sample.stream_view("fresh"))
        polls = source.polls
        await press(app, "r")
        await until(app, lambda: source.polls > polls)
        await settle(app)
        assert names(app) == ALL
        await press(app, "p")
        await until(app, lambda: names(app) == ["fresh/-"])
        assert "frozen" not in bar(app, "status")


async def test_the_refresh_rate_is_chosen_by_plus_and_minus() -> None:
    app = app_for(shop_source(), every=timedelta(seconds=2))
    async with running(app):
        seen = []
        for key in ["plus", "plus", "plus", "plus", "plus", *["minus"] * 6]:
            await press(app, key)
            seen.append(bar(app, "status").split(" ·")[0])
        assert seen == [
            "refresh 5 s", "refresh 10 s", "refresh 30 s", "refresh off, 0s old (r)", "refresh off, 0s old (r)",
            "refresh 30 s", "refresh 10 s", "refresh 5 s", "refresh 2 s", "refresh 1 s", "refresh 1 s",
        ]  # fmt: skip


async def test_out_of_focus_it_slows_down_and_back_in_focus_it_polls_at_once() -> None:
    source = shop_source()
    app = app_for(source, every=timedelta(seconds=2))
    async with running(app):
        app.post_message(events.AppBlur())
        await until(app, lambda: bar(app, "status").startswith("refresh 10 s (out of focus)"))
        polls = source.polls
        app.post_message(events.AppFocus())
        await until(app, lambda: bar(app, "status").startswith("refresh 2 s ·"))
        await until(app, lambda: source.polls > polls)


async def test_a_lost_connection_keeps_the_data_and_says_so() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        source.observation = REFUSED
        await press(app, "r")
        await shown(app, "✗ data 0s old · next try in 1s · cannot connect: connection refused")
        assert "check that the server runs" in bar(app, "banner")
        assert "· stale" in bar(app, "status")
        assert names(app) == ALL
        await press(app, "enter")
        await shown(app, "· cannot connect: connection refused")
        source.observation = sample.shop()
        await press(app, "r")
        await until(app, lambda: not app.frame.query_one("#banner").display)
        assert "stale" not in bar(app, "status")


async def test_another_server_that_answers_is_told_in_the_banner() -> None:
    app = app_for(shop_source())
    async with running(app):
        hold(app, mismatch=ServerMismatch(("4f1c" * 10,), ("b07e" * 10,)))
        await until(app, lambda: "4f1c" in bar(app, "banner") and "b07e" in bar(app, "banner"))


async def test_the_countdown_moves_by_itself() -> None:
    app = app_for(shop_source())
    async with running(app):
        hold(app, loss=Loss("refused", "", monotonic() + 3.1))
        await until(app, lambda: "next try in 4s" in bar(app, "banner"))
        await until(app, lambda: "next try in 3s" in bar(app, "banner"))


async def test_without_a_first_connection_it_leaves_with_the_reason() -> None:
    app = app_for(InventedSource(Refused("wrong password", "check STREAMOPS_URL")))
    async with app.run_test():
        await until(app, lambda: app._exit)
    assert app.error is not None
    assert (app.error.message, app.return_code) == ("wrong password", ExitCode.REFUSED)


async def test_an_unforeseen_failure_is_a_banner_and_r_tries_again() -> None:
    source = shop_source()
    app = app_for(source)

    def fail() -> None:
        raise ZeroDivisionError("by zero")

    async with running(app):
        source.before_answer = fail
        await press(app, "r")
        await shown(app, "internal error: ZeroDivisionError: by zero")
        assert names(app) == ALL
        source.before_answer = lambda: None
        await press(app, "r")
        await until(app, lambda: not app.frame.query_one("#banner").display)
