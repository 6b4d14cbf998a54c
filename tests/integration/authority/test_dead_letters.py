"""Letters say where they came from, and whoever may write to their queue writes letters."""

import pytest

from streamops.errors import Forbidden
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from tests.support.monitor.dead_letters import QUEUE, STREAM, add_letter, add_pairs, do, make_group
from tests.support.servers import RunningServer

AUDIT = "streamops:audit"
OWN = [("n", "1")]


async def test_letters_that_name_other_streams_stay_and_the_rest_is_replayed(
    server: RunningServer, console: Console
) -> None:
    for stream in (STREAM, "payments"):
        make_group(server, stream)
    server.command("SET", "text", "no stream")
    for origin in (STREAM, "payments", AUDIT, "text", QUEUE, f"{{{STREAM}}}:retry:billing"):
        add_letter(server, OWN, origin=origin)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    assert [one for one in prepared.plan.warnings if "1 dead letter names stream payments" in one]
    await do(console, ReplayIntent(queue=QUEUE))
    assert [server.command("XLEN", stream) for stream in (STREAM, "payments", QUEUE)] == [1, 0, 5]


async def test_letters_that_name_other_streams_go_there_on_the_operators_word(
    server: RunningServer, console: Console
) -> None:
    for stream in (STREAM, "payments"):
        make_group(server, stream)
    server.command("SET", "text", "no stream")
    for origin in ("payments", AUDIT, "text", "missing"):
        add_letter(server, OWN, origin=origin)
    with pytest.raises(Forbidden, match="not the queue's own") as refused:
        await console.prepare(ReplayIntent(queue=QUEUE))
    assert "--foreign-origins" in refused.value.hint
    intent = ReplayIntent(queue=QUEUE, foreign_origins=True)
    words = " ".join((await console.prepare(intent)).plan.warnings)
    for part in ("1 dead letter names stream payments", "is reserved for streamops", "does not exist"):
        assert part in words
    await do(console, intent)
    assert [server.command("XLEN", stream) for stream in (STREAM, "payments", QUEUE)] == [0, 1, 3]
    assert server.command("EXISTS", "missing") == 0


async def test_queue_that_the_configuration_gives_to_several_streams_replays_to_each(
    server: RunningServer,
) -> None:
    for stream in ("orders", "payments"):
        make_group(server, stream)
        add_pairs(server, "dead", [*OWN, ("_so_origin", stream)])
    watch = Watch(dead_letters={"orders": "dead", "payments": "dead"})
    async with await Console.open(server.options, watch) as console:
        await do(console, ReplayIntent(queue="dead"))
    assert [server.command("XLEN", stream) for stream in ("orders", "payments", "dead")] == [1, 1, 0]


@pytest.mark.parametrize("mode", [ReplayMode.REPUBLISH, ReplayMode.RETRY])
async def test_payload_of_a_letter_replayed_to_another_stream_is_copied_beside_that(
    server: RunningServer, console: Console, mode: ReplayMode
) -> None:
    make_group(server, "archive")
    make_group(server)
    server.command("SET", f"{{{STREAM}}}:payload:1", "large", "EX", 60)
    add_letter(server, [*OWN, ("_so_payload", f"{{{STREAM}}}:payload:1")])
    await do(console, ReplayIntent(queue=QUEUE, to="archive", mode=mode))
    stream = "archive" if mode is ReplayMode.REPUBLISH else "{archive}:retry:billing"
    ((_, parts),) = server.command("XRANGE", stream, "-", "+")
    copy = parts[parts.index(b"_so_payload") + 1]
    assert copy.startswith(b"{archive}:payload:")
    assert server.command("GET", copy) == b"large"
    assert server.command("TTL", copy) > 24 * 3600


@pytest.mark.parametrize("key", ["{payments}:payload:1", "secret", f"{{{STREAM}}}:done:g:1"])
@pytest.mark.parametrize("ttl", [None, 60])
async def test_key_that_a_letter_names_beside_another_stream_keeps_its_time_to_live(
    server: RunningServer, console: Console, key: str, ttl: int | None
) -> None:
    make_group(server)
    server.command("SET", key, "v", *(("EX", ttl) if ttl else ()))
    before = server.command("PTTL", key)
    add_letter(server, [*OWN, ("_so_payload", key)])
    await do(console, ReplayIntent(queue=QUEUE))
    assert server.command("XLEN", STREAM) == 1
    assert before - 5_000 <= server.command("PTTL", key) <= before
