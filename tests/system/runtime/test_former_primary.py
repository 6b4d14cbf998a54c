"""A former primary that goes on: what the new one delivers is acknowledged there, whatever the former one said."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.runtime import Delays, Entry, Streamops, outcomes
from streamops.wire import primary as primary_module
from tests.support.deployments import StartSentinel
from tests.support.runtime.former_primary import SAME, add_named, owners, replace_primary, two_primaries
from tests.support.runtime.working import until, working
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import pending_count
from tests.support.wire.sentinel import behind

PATIENT = timedelta(seconds=30)
PAUSE = 3.0
NEXT = "2-1"


def readers(server: RunningServer) -> list[str]:
    """The connections that wait for entries."""
    rows = [line.split() for line in server.command("CLIENT", "LIST").decode().splitlines()]
    return [row[0].removeprefix("id=") for row in rows if "cmd=xreadgroup" in row]


@pytest.mark.parametrize("ending", ["acknowledged", "tried again", "tried again here", "given up"])
async def test_the_entry_of_a_new_primary_outlives_one_of_the_former_with_its_id(
    start_server: StartServer, start_sentinel: StartSentinel, ending: str
) -> None:
    former, primary = two_primaries(start_server)
    sentinel = start_sentinel(former)
    begun: list[str] = []
    ended: list[str] = []
    given_up: list[str] = []
    may_end = {name: asyncio.Event() for name in ("former", "new", "next")}
    app = Streamops(replace(behind(sentinel.port), timeout=PATIENT), name="superseded")

    @app.handler(
        "s",
        group="g",
        concurrency=3,
        retry=Delays((0.0,)),
        in_place=ending.endswith("here"),
        max_attempts=1 if ending == "given up" else 5,
        failed=lambda entry, _: given_up.append(entry.id),
    )
    async def handle(entry: Entry) -> None:
        name = (entry.get("name") or b"").decode()
        begun.append(name)
        await may_end[name].wait()
        ended.append(name)
        if name == "former" and ending != "acknowledged":
            raise ValueError(name)

    async with working(app):
        await until(lambda: begun == ["former"])
        add_named(primary, SAME, "new")
        replace_primary(sentinel, primary)
        await until(lambda: begun == ["former", "new"])
        may_end["former"].set()
        await until(lambda: ended == ["former"])
        # Whatever was to be said of the former one has been said before this one is acknowledged.
        add_named(primary, NEXT, "next")
        may_end["next"].set()
        await until(lambda: "next" in ended and NEXT.encode() not in owners(primary))
        assert owners(primary) == [SAME.encode()]
        may_end["new"].set()
        await until(lambda: pending_count(primary, "s", "g") == 0)
    assert sorted(begun) == ["former", "new", "next"]
    assert sorted(ended) == ["former", "new", "next"]
    # Nobody is told that it was: what became of it, only the former primary knows.
    assert given_up == []
    assert primary.command("EXISTS", "{s}:dlq", "{s}:delayed") == 0


@pytest.mark.parametrize("ending", ["retry_all", "dead_letter_all"])
async def test_so_it_does_while_the_former_ones_is_to_be_settled(
    start_server: StartServer,
    start_sentinel: StartSentinel,
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
) -> None:
    """The former primary is gone when its entry is to be tried again, or given up; so that is tried until it is done."""
    former, primary = two_primaries(start_server)
    sentinel = start_sentinel(former)
    begun: list[str] = []
    tries: list[str] = []
    may_end = {name: asyncio.Event() for name in ("former", "new", "next")}
    app = Streamops(replace(behind(sentinel.port), timeout=timedelta(seconds=5)), name="superseded")
    most = 1 if ending == "dead_letter_all" else 5
    settle = getattr(outcomes, ending)

    async def settle_and_tell(*args: object, **more: object) -> object:
        tries.append("begun")
        try:
            return await settle(*args, **more)
        finally:
            tries.append("ended")

    monkeypatch.setattr(outcomes, ending, settle_and_tell)
    # Long enough to hear of the new primary, and to read from it.
    monkeypatch.setattr(outcomes, "PAUSE", PAUSE)

    @app.handler("s", group="g", concurrency=3, retry=Delays((0.0,)), max_attempts=most)
    async def handle(entry: Entry) -> None:
        name = (entry.get("name") or b"").decode()
        begun.append(name)
        await may_end[name].wait()
        if name == "former":
            raise ValueError(name)

    async with working(app):
        await until(lambda: begun == ["former"])
        add_named(primary, SAME, "new")
        former.stop()
        may_end["former"].set()
        await until(lambda: tries == ["begun", "ended"])
        replace_primary(sentinel, primary)
        await until(lambda: begun == ["former", "new"])
        add_named(primary, NEXT, "next")
        may_end["next"].set()
        await until(lambda: NEXT.encode() not in owners(primary) and "next" in begun)
        # Until after that would have been tried again.
        await asyncio.sleep(PAUSE + 1)
        assert owners(primary) == [SAME.encode()]
        may_end["new"].set()
        await until(lambda: pending_count(primary, "s", "g") == 0)
    assert begun == ["former", "new", "next"]
    assert tries == ["begun", "ended"]
    assert primary.command("EXISTS", "{s}:dlq", "{s}:delayed") == 0


async def test_whoever_reads_from_the_new_primary_does_not_acknowledge_at_the_former_one(
    start_server: StartServer, start_sentinel: StartSentinel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader has lost its connection, and hears of the new one with the next; nobody else asks the Sentinels."""
    monkeypatch.setattr(primary_module, "LOOK_EVERY", 3600.0)
    former, primary = start_server(), start_server()
    primary.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    sentinel = start_sentinel(former)
    begun: list[str] = []
    app = Streamops(replace(behind(sentinel.port), timeout=PATIENT), name="former")

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        begun.append((entry.get("name") or b"").decode())

    async with working(app):
        add_named(former, SAME, "former")
        await until(lambda: begun and pending_count(former, "s", "g") == 0)
        await until(lambda: readers(former))
        replace_primary(sentinel, primary)
        add_named(primary, NEXT, "new")
        for reader in readers(former):
            former.command("CLIENT", "KILL", "ID", reader)
        await until(lambda: "new" in begun)
        await until(lambda: pending_count(primary, "s", "g") == 0)
    assert begun == ["former", "new"]
