"""What a replay refuses or asks about, and what it tells of groups."""

import pytest
from msgspec.structs import replace

from streamops.errors import (
    Forbidden,
    NotFound,
    Refused,
    ServerError,
    SettingsError,
    StalePlan,
)
from streamops.model.acting import Confirmation, Limits
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.wire.options import Secret
from tests.support.monitor.dead_letters import QUEUE, STREAM, add_letter, add_pairs, do, make_group
from tests.support.operations.replaying.fields import OWN
from tests.support.servers import RunningServer


async def test_a_live_stream_is_not_taken_from_its_groups(server: RunningServer) -> None:
    make_group(server, "events", "worker", "0")
    make_group(server, "events", "idle", "$")
    make_group(server, "archive")
    intent = ReplayIntent(queue="events", to="archive")
    async with await Console.open(server.options) as console:
        add_pairs(server, "events", OWN, "5-1")
        with pytest.raises(Forbidden, match="groups idle, worker would lose") as refused:
            await console.prepare(intent)
        assert 'dead_letters = { STREAM = "events" }' in refused.value.hint
        for group in ("worker", "idle"):
            server.command("XREADGROUP", "GROUP", group, "c", "STREAMS", "events", ">")
        server.command("XACK", "events", "idle", "5-1")
        with pytest.raises(Forbidden, match="group worker would lose"):
            await console.prepare(intent)
        server.command("XACK", "events", "worker", "5-1")
        assert (await console.prepare(intent)).plan.count == 1
    add_pairs(server, "events", OWN, "6-1")
    async with await Console.open(server.options, Watch(dead_letters={"archive": "events"})) as console:
        plan = (await console.prepare(intent)).plan
    assert plan.count == 2
    assert plan.warnings[0] == (
        "Group idle reads the queue itself: once dead letters leave it, its lag may be unknown."
    )


async def test_a_mode_is_asked_for_where_more_than_one_group_would_see_them(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    make_group(server, group="audit")
    add_letter(server, OWN)
    with pytest.raises(SettingsError, match=r"stream orders has 2 groups: (audit, billing|billing, audit)"):
        await console.prepare(ReplayIntent(queue=QUEUE))
    plan = (await console.prepare(ReplayIntent(queue=QUEUE, mode=ReplayMode.REPUBLISH))).plan
    assert any("delivered to its groups" in effect for effect in plan.effects)


async def test_a_group_that_appears_meanwhile_is_drift(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, OWN)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    make_group(server, group="audit")
    with pytest.raises(StalePlan, match="another group now: audit"):
        await console.apply(prepared, Confirmation(yes=True))
    assert (server.command("XLEN", QUEUE), server.command("XLEN", STREAM)) == (1, 0)


async def test_a_stream_that_goes_meanwhile_is_drift(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, OWN)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    server.command("DEL", STREAM)
    with pytest.raises(StalePlan, match="stream orders is gone"):
        await console.apply(prepared, Confirmation(yes=True))
    assert server.command("EXISTS", STREAM) == 0


async def test_a_replay_from_no_stream_or_with_contradictions_is_refused(
    server: RunningServer, console: Console
) -> None:
    with pytest.raises(NotFound):
        await console.prepare(ReplayIntent(queue="missing:dlq"))
    server.command("SET", "text:dlq", "v")
    with pytest.raises(NotFound, match="not a stream"):
        await console.prepare(ReplayIntent(queue="text:dlq"))
    add_letter(server, OWN)
    with pytest.raises(Forbidden, match=r"came from: stream orders does not exist"):
        await console.prepare(ReplayIntent(queue=QUEUE))
    with pytest.raises(SettingsError, match="expression"):
        await console.prepare(ReplayIntent(queue=QUEUE, where="fields.kind =="))
    with pytest.raises(SettingsError, match="no 'kind' at its root"):
        await console.prepare(ReplayIntent(queue=QUEUE, where="kind == 'x'"))
    add_pairs(server, "plain", OWN)
    with pytest.raises(
        SettingsError, match="no dead-letter queue by its name or the configuration, and no entry"
    ):
        await console.prepare(ReplayIntent(queue="plain"))
    add_pairs(server, "loop:dlq", [*OWN, ("_so_origin", "loop:dlq")])
    with pytest.raises(Forbidden, match="is the queue itself"):
        await console.prepare(ReplayIntent(queue="loop:dlq"))
    with pytest.raises(ValueError, match="not replayed into itself"):
        ReplayIntent(queue=QUEUE, to=QUEUE)
    with pytest.raises(ValueError, match="leave out --edit and --to"):
        ReplayIntent(queue=QUEUE, to=STREAM, mode=ReplayMode.REDELIVER)
    with pytest.raises(ValueError, match="reserved"):
        ReplayIntent(queue=QUEUE, edit=((b"_so_group", b"x"),))
    with pytest.raises(ValueError, match="two values"):
        ReplayIntent(queue=QUEUE, edit=((b"a", b"x"), (b"a", b"y")))


async def test_groups_of_the_queue_itself_are_told(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, OWN)
    server.command("XGROUP", "CREATE", QUEUE, "watchers", "0")
    server.command("XREADGROUP", "GROUP", "watchers", "c", "STREAMS", QUEUE, ">")
    plan = (await console.prepare(ReplayIntent(queue=QUEUE))).plan
    assert plan.warnings == (
        "Group watchers, which has 1 dead letter pending, reads the queue itself: once dead letters leave it, its lag may be unknown.",
    )


async def test_without_permission_nothing_is_written(server: RunningServer) -> None:
    make_group(server)
    add_letter(server, OWN)
    for denied in ("-xdel", "-xadd"):
        server.command("ACL", "SETUSER", "some", "reset", "on", ">right", "~*", "&*", "+@all", denied)
        options = replace(server.options, username="some", password=Secret("right"))
        try:
            async with await Console.open(options) as console:
                with pytest.raises(Refused, match=denied[1:].upper()):
                    await do(console, ReplayIntent(queue=QUEUE))
        finally:
            server.command("ACL", "DELUSER", "some")
    assert (server.command("XLEN", QUEUE), server.command("XLEN", STREAM)) == (1, 0)


async def test_out_of_memory_nothing_is_moved(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letter(server, OWN)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE), Limits(unaudited=True))
    server.command("CONFIG", "SET", "maxmemory", 1)
    try:
        with pytest.raises(ServerError, match="out of memory"):
            await console.apply(prepared, Confirmation(yes=True))
    finally:
        server.command("CONFIG", "SET", "maxmemory", 0)
    assert (server.command("XLEN", QUEUE), server.command("XLEN", STREAM)) == (1, 0)
