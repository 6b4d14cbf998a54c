"""Redis goes away, comes back older, refuses to write or to answer: nothing is changed wrongly, and it goes on by itself."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from streamops.autoscaler.controller import Controller
from streamops.model.scaling import ScaleCode
from tests.support.autoscaler.outages import AT_ONCE, IMPATIENT, Case, assert_goes_on, assert_holds
from tests.support.autoscaler.pools import POOL, Workers, console_on, fill, options
from tests.support.servers import RunningServer, StartServer


@pytest.fixture
def own(start_server: StartServer) -> RunningServer:
    """A server of the test's own, with a stream and a group."""
    server = start_server(*AT_ONCE)
    fill(server, entries=10)
    return server


@pytest.fixture
async def case(own: RunningServer) -> AsyncIterator[Case]:
    target = Workers(3)
    connection = replace(own.options, timeout=IMPATIENT)
    async with console_on(own, target, connection=connection) as console:
        case = Case(Controller(console, options()), target)
        for _ in range(2):
            assert await case.is_led()
        yield case


async def test_a_server_that_is_killed_and_comes_back_with_nothing(own: RunningServer, case: Case) -> None:
    own.kill()
    await assert_holds(case, ["no pool can be led"])
    own.restart()
    assert (await case.controller.round()).decisions[POOL].code is ScaleCode.UNREADABLE
    fill(own)
    await assert_goes_on(own, case)
