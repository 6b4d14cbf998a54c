"""A pool that is led, and whose Redis goes away: nothing is done meanwhile, and it goes on by itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from msgspec.structs import replace
from structlog.testing import capture_logs

from streamops.autoscaling.controller import Controller
from streamops.model.pools import Applied, ScaleCode
from tests.support.autoscaling.pools import POOL, Workers, console_on, options, steer
from tests.support.eventually import SETTLE_SECONDS
from tests.support.servers import RunningServer

IMPATIENT = timedelta(seconds=0.2)


class Case:
    """A controller of one pool that is where it should be."""

    def __init__(self, controller: Controller, target: Workers) -> None:
        self.controller, self.target = controller, target

    async def is_led(self) -> bool:
        """Whether a round comes to a decision."""
        return bool((await self.controller.round()).decisions)

    async def goes_on(self) -> None:
        """Wait until it is led again; then what is told to it is done."""
        async with asyncio.timeout(SETTLE_SECONDS):
            while not await self.is_led():  # noqa: ASYNC110 - each time a round
                await asyncio.sleep(0.05)


async def assert_holds(case: Case, events: list[str]) -> None:
    """Round after round nothing is decided and nothing asked for, which is told once."""
    with capture_logs() as logs:
        for _ in range(2):
            assert (await case.controller.round()).decisions == {}
    assert [one["event"] for one in logs] == events
    assert case.target.asked == []


async def assert_goes_on(own: RunningServer, case: Case) -> None:
    """It is led again, and does as it is told."""
    await case.goes_on()
    steer(own, override=7, steered_at=99)
    decision = (await case.controller.round()).decisions[POOL]
    assert (decision.code, decision.outcome, case.target.asked) == (ScaleCode.OVERRIDE, Applied.DONE, [7])
    told = await case.controller._console.pools.decisions(POOL, 1)
    assert told[0].code is ScaleCode.OVERRIDE


@asynccontextmanager
async def led(server: RunningServer) -> AsyncIterator[Case]:
    """A controller that leads its pool."""
    target = Workers(3)
    connection = replace(server.options, timeout=IMPATIENT)
    async with console_on(server, target, connection=connection) as console:
        case = Case(Controller(console, options()), target)
        for _ in range(2):
            assert await case.is_led()
        yield case
