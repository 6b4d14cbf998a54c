"""Acting in tests: plan, agree to whatever is asked, apply."""

from msgspec import Struct

from streamops.model.acting import Actor, Confirmation, Limits, OperationIntent, Outcome, Plan
from streamops.operations.console import Console
from streamops.operations.operation import Prepared
from tests.support.servers import RunningServer


async def open_console(server: RunningServer, user: str = "ann") -> Console:
    return await Console.open(server.options, actor=Actor(user, "here", 1))


async def planned(console: Console, intent: Struct) -> Plan:
    return (await console.prepare(intent)).plan


async def done(console: Console, intent: Struct, limits: Limits = Limits()) -> Outcome:  # noqa: B008 - frozen
    return await applied(console, await console.prepare(intent, limits))


async def applied(console: Console, prepared: Prepared[OperationIntent, Struct]) -> Outcome:
    return await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
