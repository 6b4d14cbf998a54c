"""Three pending entries to acknowledge, and who does it."""

from typing import Any

from msgspec.structs import replace

from streamops.model.acting import (
    Actor,
    Confirmation,
    Environment,
    Outcome,
)
from streamops.model.entries import EntryId
from streamops.operations.ack.intent import AckIntent
from streamops.operations.console import Console
from streamops.operations.nack.intent import NackIntent
from streamops.operations.operation import Prepared
from streamops.wire.options import Secret
from tests.support.servers import RunningServer

YES = Confirmation(yes=True)
ANN = Actor("ann", "desk", 7, "test", Environment.PRODUCTION)
ACK = AckIntent(stream="orders", group="billing", ids=(EntryId(1, 0), EntryId(2, 0), EntryId(3, 0)))
NACK = NackIntent(stream="orders", group="billing", ids=ACK.ids)


def add_three_pending(server: RunningServer) -> None:
    """Three entries, delivered to one group and not acknowledged."""
    for number in (1, 2, 3):
        server.command("XADD", "orders", f"{number}-0", "n", number)
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker", "STREAMS", "orders", ">")


async def open_as(server: RunningServer, *rules: str, **options: Any) -> Console:
    """A console of a user with all rights but for what the rules take away."""
    server.command("ACL", "SETUSER", "op", "reset", "on", ">pw", "~*", "&*", "+@all", *rules)
    login = replace(server.options, username="op", password=Secret("pw"))
    return await Console.open(login, actor=ANN, **options)


async def apply_elsewhere(server: RunningServer, prepared: Prepared[Any, Any]) -> Outcome:
    async with await Console.open(server.options, actor=ANN) as console:
        return await console.apply(prepared, YES)
