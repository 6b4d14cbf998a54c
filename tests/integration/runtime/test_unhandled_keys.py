"""A business key is kept by what was handled, or will be: what was trimmed before it was handled keeps none."""

import asyncio
from datetime import timedelta

import pytest

from streamops.model.acting import Confirmation, Outcome
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from streamops.runtime import Entry, RetryLater, Streamops, WorkerOptions
from streamops.runtime.events import Duplicate, Event, Lost, Retried
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.operations.reclaiming import reclaim
from tests.support.runtime.worker import add_order
from tests.support.runtime.working import QUICK, is_idle, until, working
from tests.support.servers import RunningServer
from tests.support.streams import pending_count

DEAD = "so-dead-1-abcd"
GUARD, RETRIES = "{s}:done:g:7", "{s}:retry:g"
LONG = timedelta(hours=1)


def die_with_key(server: RunningServer, origin: str = "", stream: str = "s") -> str:
    """Have a worker read an entry, take its key and die; then the entry is trimmed."""
    server.command("XGROUP", "CREATE", stream, "g", "0", "MKSTREAM")
    one = add_order(server, *(("_so_origin_id", origin) if origin else ()), stream=stream)
    server.command("XREADGROUP", "GROUP", "g", DEAD, "STREAMS", stream, ">")
    server.command("SET", GUARD, origin or one, "PX", 86_400_000)
    if origin:
        place = one if stream == "s" else f"retry:{one}"
        server.command("SET", f"{{s}}:done:g::at:{origin}", place, "PX", 86_400_000)
    server.command("XTRIM", stream, "MAXLEN", 0)
    return one


async def reclaim_at_once(server: RunningServer, stream: str) -> Outcome:
    """Deal with what is pending, however short it is idle."""
    await until(lambda: server.command("XPENDING", stream, "g", "-", "+", 1)[0][2] > 1)
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        return await reclaim(console, stream=stream, group="g", min_idle=timedelta(milliseconds=1))


def application(
    server: RunningServer, handled: list[str], told: list[Event], *, lease: float = 60
) -> Streamops:
    app = Streamops(server.options)
    for kind in (Lost, Duplicate):
        app.events.on(kind, told.append)

    @app.handler("s", group="g", start="0", key="order", lease=lease)
    async def handle(entry: Entry) -> None:
        handled.append(entry.id)

    return app


# every server: what is pending of a deleted entry differs between them, and so do the commands that take keys
@pytest.mark.parametrize("origin", ["", "1-1"])
async def test_key_of_an_entry_trimmed_while_pending_is_free_for_the_event_published_again(
    server: RunningServer, origin: str
) -> None:
    gone, handled, told = die_with_key(server, origin), list[str](), list[Event]()
    async with working(application(server, handled, told)):
        await until(lambda: Lost("s", "g", gone, 1) in told)
        again = add_order(server)
        await until(lambda: is_idle(server, "s"))
        assert handled == [again]
        assert server.command("GET", GUARD) == again.encode()
        once_more = add_order(server)
        await until(lambda: is_idle(server, "s"))
    assert handled == [again]
    assert told[1:] == [Duplicate("s", "g", once_more, "7")]
    assert 0 < server.command("PTTL", "{s}:done:g::unhandled") <= 86_400_000
    assert server.command("PTTL", GUARD) > 86_000_000


async def test_key_of_a_trimmed_retry_is_free(server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    die_with_key(server, "1-1", RETRIES)
    handled, told = list[str](), list[Event]()
    async with working(application(server, handled, told)):
        await until(lambda: told)
        again = add_order(server)
        await until(lambda: is_idle(server, "s"))
    assert handled == [again]


async def test_event_published_before_the_loss_is_found_is_handled(server: RunningServer) -> None:
    gone, handled, told = die_with_key(server), list[str](), list[Event]()
    add_order(server)
    async with working(application(server, handled, told)):
        await until(lambda: handled and is_idle(server, "s"))
    assert told == [Lost("s", "g", gone, 1)]
    assert len(handled) == 1


@pytest.mark.parametrize("in_place", [False, True])
async def test_key_of_an_entry_trimmed_in_a_handler_stays_taken(
    server: RunningServer, *, in_place: bool
) -> None:
    app, may_end, begun = Streamops(server.options), asyncio.Event(), list[str]()
    retried, duplicates = list[Retried](), list[Duplicate]()
    app.on(Retried)(retried.append)
    app.on(Duplicate)(duplicates.append)

    @app.handler("s", group="g", start="0", key="order", in_place=in_place, concurrency=2)
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)
        await may_end.wait()

    async with working(app):
        one = add_order(server)
        await until(lambda: begun)
        server.command("XTRIM", "s", "MAXLEN", 0)
        add_order(server)
        await until(lambda: retried)
        may_end.set()
        await until(lambda: is_idle(server, "s") and duplicates)
    assert begun == [one]


async def test_key_of_an_entry_that_outlived_its_lease_stays_taken(server: RunningServer) -> None:
    """Another worker took it for lost, because it was trimmed; it was handled all the same."""
    slow, quick = Streamops(server.options), list[str]()
    may_end, begun, told = asyncio.Event(), list[str](), list[Event]()
    slow.events.on(Duplicate, told.append)

    @slow.handler("s", group="g", start="0", key="order", lease=0.3)
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)
        await may_end.wait()

    async with working(slow, WorkerOptions(beat=LONG)):
        one = add_order(server)
        await until(lambda: begun)
        server.command("XTRIM", "s", "MAXLEN", 0)
        async with working(application(server, quick, told, lease=0.3)):
            await until(lambda: Lost("s", "g", one, 1) in told)
            may_end.set()
            await until(lambda: server.command("ZCARD", "{s}:done:g::unhandled") == 0)
            two = add_order(server)
            await until(
                lambda: Duplicate("s", "g", two, "7") in told and pending_count(server, "s", "g") == 0
            )
    assert (begun, quick) == ([one], [])


@pytest.mark.parametrize("stream", ["s", RETRIES])
async def test_key_of_a_trimmed_entry_that_reclaim_found_is_free(server: RunningServer, stream: str) -> None:
    if stream == RETRIES:
        server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    die_with_key(server, "1-1" if stream == RETRIES else "", stream)
    assert (await reclaim_at_once(server, stream)).applied == 1
    assert pending_count(server, stream, "g") == 0
    handled, told = list[str](), list[Event]()
    async with working(application(server, handled, told)):
        again = add_order(server)
        await until(lambda: is_idle(server, "s"))
    assert handled == [again]
    assert told == []


@pytest.mark.parametrize(
    "taking",
    [
        ClaimIntent(stream="s", group="g", to="ann", min_idle=timedelta()),
        ClaimIntent(stream="s", group="g", to="ann", min_idle=timedelta(), source=DEAD),
        RemoveConsumerIntent(stream="s", group="g", consumer=DEAD, to="ann"),
    ],
)
async def test_key_of_a_trimmed_entry_that_a_command_took_off_the_list_is_free(
    server: RunningServer, taking: ClaimIntent | RemoveConsumerIntent
) -> None:
    die_with_key(server)
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        await console.apply(await console.prepare(taking), Confirmation(yes=True))
    assert pending_count(server, "s", "g") == 0
    handled, told = list[str](), list[Event]()
    async with working(application(server, handled, told)):
        again = add_order(server)
        await until(lambda: is_idle(server, "s"))
    assert (handled, told) == ([again], [])


async def test_reclaim_notes_nothing_of_a_group_without_workers_of_streamops(server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    add_order(server)
    server.command("XREADGROUP", "GROUP", "g", "theirs", "STREAMS", "s", ">")
    server.command("XTRIM", "s", "MAXLEN", 0)
    assert (await reclaim_at_once(server, "s")).applied == 1
    assert server.command("EXISTS", "{s}:done:g::unhandled") == 0


async def test_entry_whose_key_asked_for_another_time_is_screened_again(server: RunningServer) -> None:
    """It stays with no worker unscreened: it would be handled without a key."""
    app, asked, handled = Streamops(server.options), list[str](), list[str]()

    def key_of(entry: Entry) -> str:
        asked.append(entry.id)
        if len(asked) == 1:
            raise RetryLater(0)
        return "7"

    @app.handler("s", group="g", start="0", key=key_of, in_place=True)
    async def handle(entry: Entry) -> None:
        handled.append(entry.id)

    async with working(app, QUICK):
        one = add_order(server)
        await until(lambda: handled and is_idle(server, "s"))
    assert len(asked) == 2
    assert server.command("GET", GUARD) == one.encode()
