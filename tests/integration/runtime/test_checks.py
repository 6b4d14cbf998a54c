"""Declarations that make no sense are refused where they stand, in one line."""

from collections.abc import AsyncIterator, Awaitable, Iterator
from functools import partial
from typing import Any

import pytest

from streamops import runtime
from streamops.errors import SettingsError
from streamops.runtime import Delays, Entry, Exponential, Linear, Payload, Router, Streamops
from streamops.testing import staged
from tests.support.servers import RunningServer


async def nothing() -> None:
    """Handle nothing."""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"group": ""}, "has no group"),
        ({"start": "now"}, "start='now'"),
        ({"start": 0}, "start=0"),
        ({"streams": ["s", "t", "s"]}, "reads stream s twice"),
        ({"streams": []}, "needs a stream"),
        ({"streams": b"s"}, "needs a stream"),
        ({"streams": {"s": 0}}, "weight must be 1 or more"),
        ({"concurrency": 0}, "concurrency=0"),
        ({"concurrency": True}, "concurrency=True"),
        ({"prefetch": 0.5}, "prefetch=0.5"),
        ({"max_attempts": 0}, "max_attempts=0"),
        ({"timeout": 0}, "timeout must be longer than nothing"),
        ({"timeout": "30"}, "timeout is '30', no duration"),
        ({"lease": float("inf")}, "lease is inf, no duration"),
        ({"linger": -1}, "linger is negative"),
        ({"key": ""}, "key=''"),
        ({"key": 3}, "key=3"),
        ({"key": "k", "key_ttl": 0}, "key_ttl must be longer than nothing"),
        ({"retry": []}, "a list of delays is empty"),
        ({"retry": [1, -1]}, "a negative delay"),
        ({"retry": "60"}, "a delay is '60', no duration"),
        ({"no_retry_on": "ValueError"}, "no_retry_on='ValueError'"),
        ({"no_retry_on": (ValueError, int)}, "no_retry_on=<class 'int'>"),
        ({"failed": "hook"}, "failed='hook'"),
        ({"middleware": ["around"]}, "middleware='around'"),
        ({"batch": 10}, "a batch handler takes lists"),
        ({"threads": True}, "is async and cannot run in threads"),
    ],
)
def test_handler_with_an_impossible_option_is_refused_in_one_line(given: dict[str, Any], words: str) -> None:
    app = Streamops()

    async def handle(entry: Entry) -> None: ...

    options: dict[str, Any] = {"streams": "s", "group": "g", **given}
    with pytest.raises(SettingsError, match=words) as raised:
        app.handler(options.pop("streams"), **options)(handle)
    assert raised.value.hint
    assert "\n" not in raised.value.message
    assert not app.handlers


def test_former_names_of_options_work_and_name_the_present_ones() -> None:
    app, router = Streamops(), Router()
    with pytest.warns(DeprecationWarning, match=" now; ") as warned:
        app.handler("s", group="g", max_deliveries=2, hopeless=KeyError, passive=True)(nothing)  # type: ignore[call-arg] # former ones
    told = sorted(str(one.message).partition(";")[0] for one in warned)
    assert told == [
        "hopeless= is no_retry_on= now",
        "max_deliveries= is max_attempts= now",
        "passive= is in_place= now",
    ]
    assert {one.filename for one in warned} == {__file__}
    (handler,) = app.handlers
    assert (handler.retry.max_attempts, handler.retry.no_retry_on, handler.retry.in_place) == (
        2,
        (KeyError,),
        True,
    )
    with pytest.warns(DeprecationWarning, match=" now; "), pytest.raises(SettingsError, match="are the same"):
        router.handler("s", group="g", max_attempts=2, max_deliveries=2)  # type: ignore[call-arg] # a former one
    with pytest.warns(DeprecationWarning, match="is Linear") as warned:
        assert runtime.OddMinutes() == Linear(60, 120)  # type: ignore[attr-defined] # a former one
    assert warned[0].filename == __file__


def test_declared_handlers_are_added_and_doubles_refused() -> None:
    app, other = Streamops(), Streamops()
    app.handler("s", group="g")(nothing)
    other.handler("s", group="h")(nothing)
    app.declare(*other.handlers)
    assert [handler.group for handler in app.handlers] == ["g", "h"]
    with pytest.raises(SettingsError, match="is read by nothing already"):
        app.declare(*other.handlers)
    app.replace_handlers(*other.handlers)
    assert [handler.group for handler in app.handlers] == ["h"]


def test_functions_that_would_never_run_are_refused() -> None:
    app = Streamops()

    async def asynchronous(entry: Entry) -> AsyncIterator[int]:
        yield entry.attempt

    def plain(entry: Entry) -> Iterator[int]:
        yield entry.attempt

    async def perhaps(entry: Entry | None) -> None: ...

    async def many(entries: list[Entry]) -> None: ...

    for function in (asynchronous, plain):
        with pytest.raises(SettingsError, match="is a generator, which would never run"):
            app.handler("s", group="g")(function)
    for taking in (perhaps, many):
        with pytest.raises(SettingsError, match="an entry is taken as it is"):
            app.handler("s", group="g")(taking)


async def test_whatever_can_be_called_is_run(server: RunningServer) -> None:
    """Objects, methods, partial functions, and plain functions that return coroutines."""
    app, seen = Streamops(server.options), list[str]()

    class Handler:
        async def __call__(self, entry: Entry) -> None:
            seen.append(entry.stream)

        async def handle(self, entry: Entry) -> None:
            seen.append(entry.stream)

    async def note(prefix: str, entry: Entry) -> None:
        seen.append(prefix + entry.stream)

    def wrapped(entry: Entry) -> Awaitable[None]:
        return note("wrapped ", entry)

    app.handler("object", group="g")(Handler())
    app.handler("method", group="g")(Handler().handle)
    app.handler("partial", group="g")(partial(note, "a "))
    app.handler("inline", group="g")(wrapped)
    app.handler("threads", group="g", threads=True)(wrapped)
    assert app.handlers[2].name.endswith("note")
    async with staged(app, server.options) as stage:
        for handler in app.handlers:
            await stage.publish(handler.streams[0][0], {"n": 1})
        await stage.idle()
    assert sorted(seen) == ["a partial", "method", "object", "wrapped inline", "wrapped threads"]


def test_schedules_and_payloads_that_make_no_sense() -> None:
    with pytest.raises(SettingsError, match="goes backwards"):
        Exponential(base=-1)
    with pytest.raises(SettingsError, match="base is 'x', no duration"):
        Exponential(base="x")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="is empty"):
        Delays(())
    with pytest.raises(SettingsError, match="to be kept for 3600"):
        Payload(ttl=3600)  # type: ignore[arg-type]


@pytest.mark.parametrize("start", ["$", "0", "0-0", "1700000000000-3", "5"])
def test_a_group_may_begin_at_the_end_or_at_an_id(start: str) -> None:
    app = Streamops()

    @app.handler("s", group="g", start=start)
    async def handle(entry: Entry) -> None: ...

    assert app.handlers[0].start == start
