"""What ``delayed run-now`` asks for before its first write."""

import pytest
from msgspec.structs import replace

from streamops.errors import ServerError
from streamops.model.acting import Actor, Confirmation
from streamops.model.delayed import DelayedBody
from streamops.model.secret import Secret
from streamops.operations.console import Console
from streamops.operations.delayed.intent import RunDelayedIntent
from streamops.wire.delayed import encode_body
from tests.support.servers import RunningServer

QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
RETRIES = "{orders}:retry:billing"


def add_messages_and_a_retry(server: RunningServer, messages: int) -> None:
    """The last message is a retry, of a group that retries nothing else."""
    plain = encode_body(DelayedBody("orders", ((b"n", b"1"),)))
    server.commands(("ZADD", QUEUE, number, f"m{number}") for number in range(messages))
    server.commands(("HSET", BODIES, f"m{number}", plain) for number in range(messages))
    retry = encode_body(DelayedBody(RETRIES, ((b"n", b"1"),), "billing", 2, "1-1"))
    server.command("HSET", BODIES, f"m{messages - 1}", retry)


@pytest.mark.parametrize("messages", [2, 1_200])
async def test_run_now_without_permission_for_one_destination_moves_nothing(
    server: RunningServer, messages: int
) -> None:
    add_messages_and_a_retry(server, messages)
    keys = ("~orders", "~{orders}:delayed*", "~streamops:*")
    server.command("ACL", "SETUSER", "ann", "reset", "on", ">right", *keys, "+@all")
    options = replace(server.options, username="ann", password=Secret("right"))
    async with await Console.open(options, actor=Actor("ann", "here", 1)) as console:
        prepared = await console.prepare(RunDelayedIntent(stream="orders", every=True))
        with pytest.raises(ServerError, match=r"XADD.*{orders}:retry:billing"):
            await console.apply(prepared, Confirmation(yes=True))
    server.command("ACL", "DELUSER", "ann")
    assert server.command("ZCARD", QUEUE) == messages
    assert server.command("EXISTS", "orders", RETRIES) == 0
