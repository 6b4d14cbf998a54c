"""Redis goes away, comes back older, refuses to write or to answer: nothing is changed wrongly, and it goes on by itself."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from streamops.autoscaling.controller import Controller
from streamops.model.pools import Applied, ScaleCode
from streamops.model.secret import Secret
from tests.support.autoscaling.outages import IMPATIENT, Case, assert_goes_on, assert_holds, led
from tests.support.autoscaling.pools import (
    KEY,
    POOL,
    Workers,
    add_waiting,
    at_least,
    console_on,
    field,
    options,
)
from tests.support.eventually import SETTLE_SECONDS
from tests.support.servers import RunningServer, StartServer


@pytest.fixture
def own(start_server: StartServer) -> RunningServer:
    """A server of the test's own, with a stream and a group."""
    server = start_server()
    add_waiting(server, entries=10)
    return server


@pytest.fixture
async def case(own: RunningServer) -> AsyncIterator[Case]:
    async with led(own) as case:
        yield case


async def test_a_server_that_is_killed_and_comes_back_with_nothing(own: RunningServer, case: Case) -> None:
    own.kill()
    await assert_holds(case, ["no pool can be led"])
    own.restart()
    assert (await case.controller.round()).decisions[POOL].code is ScaleCode.UNREADABLE
    add_waiting(own)
    await assert_goes_on(own, case)


async def test_a_server_that_answers_nobody_for_a_while(own: RunningServer, case: Case) -> None:
    own.pause()
    await assert_holds(case, ["no pool can be led"])
    own.resume()
    (led,) = case.controller._pools
    readings = len(led.state.samples)
    await case.goes_on()
    # The lead was never another's: what was read before still counts.
    assert len(led.state.samples) > readings
    await assert_goes_on(own, case)


async def test_clients_that_are_paused(own: RunningServer, case: Case) -> None:
    own.command("CLIENT", "PAUSE", "60000", "WRITE")
    await assert_holds(case, ["no pool can be led"])
    own.command("CLIENT", "UNPAUSE")
    await assert_goes_on(own, case)


async def test_a_server_that_has_no_memory_left(own: RunningServer, case: Case) -> None:
    own.command("CONFIG", "SET", "maxmemory", "1")
    await assert_holds(case, ["pool cannot be led"])
    own.command("CONFIG", "SET", "maxmemory", "0")
    with capture_logs() as logs:
        await case.goes_on()
    assert logs[0]["event"] == "over: pool cannot be led"
    await assert_goes_on(own, case)


@pytest.mark.parametrize(
    "breaks",
    [
        pytest.param(lambda server: server.pause(), id="no answer"),
        pytest.param(lambda server: server.command("CONFIG", "SET", "maxmemory", "1"), id="no memory"),
        pytest.param(lambda server: server.command("REPLICAOF", "127.0.0.1", "1"), id="a replica now"),
    ],
)
async def test_in_the_middle_of_a_round_the_target_is_not_asked(
    own: RunningServer, breaks: Callable[[RunningServer], object]
) -> None:
    target = Workers(1)
    broken = []

    def read_and_break() -> int:
        if target.read_times == 2:
            broken.append(breaks(own))
        return 1

    target.on_read = read_and_break
    connection = replace(own.options, timeout=IMPATIENT)
    async with console_on(own, target, connection=connection) as console:
        controller = Controller(console, at_least(5))
        decision = (await controller.round()).decisions[POOL]
        assert broken
        assert (decision.outcome, target.asked) == (Applied.FAILED, [])
        own.resume()
        own.command("CONFIG", "SET", "maxmemory", "0")
        own.command("REPLICAOF", "NO", "ONE")
        case = Case(controller, target)
        await case.goes_on()
        async with asyncio.timeout(SETTLE_SECONDS):
            while not target.asked:
                await controller.round()
        assert set(target.asked) == {5}
        # It was Redis that failed, and not the target.
        assert (await console.pools.one(POOL)).errors == 0


async def test_whoever_may_not_write_the_lead_changes_nothing(own: RunningServer, case: Case) -> None:
    await case.controller.leave()
    own.command("ACL", "SETUSER", "looker", "on", ">pw", "~*", "&*", "+@all", "-hset")
    connection = replace(own.options, username="looker", password=Secret("pw"))
    async with console_on(own, case.target, connection=connection) as console:
        lesser = Case(Controller(console, options("lesser")), case.target)
        await assert_holds(lesser, ["pool cannot be led"])
        assert field(own, "leader") == ""
        own.command("ACL", "SETUSER", "looker", "+hset")
        await lesser.goes_on()


async def test_a_lead_on_a_server_without_it_any_more_is_taken_anew(own: RunningServer, case: Case) -> None:
    own.command("DEL", KEY)
    assert await case.is_led()
    assert (field(own, "leader"), field(own, "term")) == ("first", "1")
