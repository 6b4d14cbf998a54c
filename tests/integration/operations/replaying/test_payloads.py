"""Letters that refer to payloads kept beside their stream."""

from streamops.model.acting import Confirmation
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent
from tests.support.monitor.dead_letters import QUEUE, STREAM, add_letter, do, make_group
from tests.support.operations.replaying.fields import FLAT, OWN, WEEK
from tests.support.servers import RunningServer
from tests.support.streams import entries_of


async def test_an_empty_reference_is_no_payload(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, [("n", "1"), ("_so_payload", "")])
    outcome = await do(console, ReplayIntent(queue=QUEUE))
    assert (outcome.applied, server.command("XLEN", QUEUE)) == (1, 0)


async def test_payloads_kept_beside_the_stream(server: RunningServer, console: Console) -> None:
    make_group(server)
    # As a dead letter's is, until somebody has looked at it.
    server.command("SET", "{orders}:payload:1", "big")
    here = add_letter(server, [*OWN, ("_so_payload", "{orders}:payload:1")])
    gone = add_letter(server, [*OWN, ("_so_payload", "{orders}:payload:2")])
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    assert any(effect.startswith("2 dead letters refer to a payload") for effect in prepared.plan.effects)
    outcome = await console.apply(prepared, Confirmation(yes=True))
    assert outcome.applied == 1
    assert [(one.id, one.error) for one in outcome.failed] == [
        (gone, "payload-missing: there is no key {orders}:payload:2")
    ]
    assert WEEK - 60 < server.command("TTL", "{orders}:payload:1") <= WEEK
    ((_, fields),) = entries_of(server, STREAM)
    assert fields == [*FLAT, b"_so_payload", b"{orders}:payload:1", b"_so_replay_of", here.encode()]


async def test_a_key_that_is_no_payload_never_expires(server: RunningServer, console: Console) -> None:
    """Whoever adds an entry chooses the key that it refers to."""
    make_group(server)
    server.command("SET", "{orders}:customers", "all of them")
    add_letter(server, [*OWN, ("_so_payload", "{orders}:customers")])
    assert (await do(console, ReplayIntent(queue=QUEUE))).applied == 1
    assert server.command("TTL", "{orders}:customers") == -1
