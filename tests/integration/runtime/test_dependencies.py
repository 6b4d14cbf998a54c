"""Dependencies of handlers: in which order and how often they are made, where they run, and what their errors do."""

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Annotated, Any

import pytest

from streamops.errors import Reject, SettingsError, Skip
from streamops.runtime import Depends, Entry, Streamops
from streamops.testing import staged
from tests.support.servers import RunningServer

LOG = list[Any]()


@pytest.fixture(autouse=True)
def log() -> list[Any]:
    LOG.clear()
    return LOG


def number() -> int:
    LOG.append("number")
    return 7


async def doubled(number: Annotated[int, Depends(number)]) -> int:
    return 2 * number


def noted(value: Annotated[int, Depends(doubled)], start: str = "start") -> Iterator[str]:
    LOG.append(f"{start} {value}")
    yield "noted"
    LOG.append("end")


class Basket:
    def __init__(self, entry: Entry) -> None:
        self.stream = entry.stream


Number = Annotated[int, Depends(number)]
Noted = Annotated[str, Depends(noted)]


async def handled(server: RunningServer, handler: Callable[..., Any], **options: Any) -> list[str]:
    """Have a handler handle an entry; the error, if it was given up."""
    app = Streamops(server.options)
    app.handler("s", group="g", retry=None, **options)(handler)
    async with staged(app, server.options) as stage:
        await stage.publish("s", {"at": 0})
        await stage.idle()
        return [letter.error for letter in await stage.dead_letters("s")]


async def test_each_is_made_once_a_call_in_order_of_need(server: RunningServer, log: list[Any]) -> None:
    async def handle(
        noted: Noted, at: int, number: Number, entry: Entry, basket: Annotated[Basket, Depends(Basket)]
    ) -> None:
        log.append((noted, at, number, entry.stream, basket.stream))

    assert await handled(server, handle) == []
    assert log == ["number", "start 14", ("noted", 0, 7, "s", "s"), "end"]


async def test_batches_share_one(server: RunningServer, log: list[Any]) -> None:
    async def count(entries: list[Entry]) -> AsyncIterator[int]:
        yield len(entries)
        log.append("end")

    async def handle(many: Annotated[int, Depends(count)], bodies: list[dict[str, str]]) -> None:
        log.append((many, len(bodies)))

    for at in range(3):
        server.command("XADD", "s", "*", "at", at)
    app = Streamops(server.options)
    app.handler("s", group="g", start="all", batch=3)(handle)
    async with staged(app, server.options) as stage:
        await stage.idle()
    assert log == [(3, 3), "end"]


async def test_those_of_a_handler_in_threads_run_in_its_threads(
    server: RunningServer, log: list[Any]
) -> None:
    def where() -> Iterator[str]:
        yield threading.current_thread().name
        log.append(threading.current_thread().name)

    def handle(name: Annotated[str, Depends(where)]) -> None:
        log.append(name)

    assert await handled(server, handle, threads=True) == []
    assert [name.startswith("streamops-handler") for name in log] == [True, True]


@pytest.mark.parametrize(
    ("raised", "given_up"),
    [(ValueError("no"), ["ValueError: no"]), (Reject("never"), ["never"]), (Skip(), [])],
)
async def test_what_a_handler_raises_is_raised_in_it_and_holds_though_it_keeps_it(
    server: RunningServer, log: list[Any], raised: Exception, given_up: list[str]
) -> None:
    async def keeping() -> AsyncIterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - what it is here
            log.append(error)

    async def handle(_: Annotated[None, Depends(keeping)]) -> None:
        raise raised

    assert await handled(server, handle) == given_up
    assert log == [raised]


async def test_one_that_cannot_be_made_is_the_handlers_failure_and_the_others_are_cleaned_up(
    server: RunningServer, log: list[Any]
) -> None:
    async def away() -> None:
        raise ConnectionError("no database")

    async def handle(noted: Noted, away: Annotated[None, Depends(away)]) -> None:
        raise AssertionError(noted, away)

    assert await handled(server, handle) == ["ConnectionError: no database"]
    assert log[0] == "number"


async def test_an_entry_that_cannot_be_decoded_opens_none(server: RunningServer, log: list[Any]) -> None:
    async def handle(at: bool, noted: Noted) -> None:  # noqa: FBT001 - a field
        raise AssertionError(at, noted)

    app = Streamops(server.options)
    app.handler("s", group="g")(handle)
    async with staged(app, server.options) as stage:
        await stage.publish("s", {"at": "perhaps"})
        await stage.idle()
        assert len(await stage.dead_letters("s")) == 1
    assert log == []


def _needs_itself(value: "Annotated[int, Depends(_needs_itself)]") -> int:
    return value


def _needs_a_number(value: int) -> int:
    return value


def _needs_what_is_not_there(value: "Nothing") -> int:  # type: ignore[name-defined]  # noqa: F821 - that it is not there
    return int(value)


def _takes_by_place(entry: Entry, /, *more: object, **others: object) -> int:
    return len(more) + len(others) + len(entry.stream)


@pytest.mark.parametrize(
    ("needed", "words"),
    [
        ("a name", r"Depends\('a name'\): 'a name' is not a callable object"),
        (dict, r"Depends\(<class 'dict'>\): no signature found"),
        (_takes_by_place, "dependency _takes_by_place: its parameter entry is positional-only"),
        (_needs_itself, "dependency _needs_itself needs itself"),
        (_needs_a_number, "dependency _needs_a_number: nothing provides its parameter value"),
        (_needs_what_is_not_there, "dependency _needs_what_is_not_there: name 'Nothing' is not defined"),
    ],
)
def test_what_cannot_be_provided_is_refused_where_it_is_declared(
    needed: Callable[..., Awaitable[Any] | int], words: str
) -> None:
    async def handle(value: Annotated[int, Depends(needed)]) -> None:
        raise AssertionError(value)

    with pytest.raises(SettingsError, match=words):
        Streamops("redis://localhost").handler("s", group="g")(handle)
