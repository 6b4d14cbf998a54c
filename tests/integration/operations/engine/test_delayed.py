"""Delayed messages from intent to outcome: what is planned is what happens, and nothing else."""

import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import ApplyError, Forbidden, NotFound, ServerError, SettingsError
from streamops.model.acting import Actor, Confirmation, Environment, Impact, Outcome, Plan, Skipped
from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.model.entries import EntryId
from streamops.monitor.context import ServerContext
from streamops.monitor.delayed import DelayedReader
from streamops.operations.console import Console
from streamops.operations.delayed import run as delayed_cancel
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from streamops.operations.publish.intent import PublishIntent
from streamops.operations.restore.intent import RestoreIntent
from streamops.wire.delayed import encode_body
from streamops.wire.delayed_writes import cancel, schedule
from streamops.wire.server import Server
from tests.support.operations.backups import read_backup
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import parts_of

QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
RETRIES = "{orders}:retry:billing"
HOUR = timedelta(hours=1)
RETRY_EFFECT = "1 of them is a retry, delivered to the group that failed alone; the others go to all groups of their stream."
ODD = msgspec.msgpack.encode([1, "orders", "", 0, "", ["f"]])
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
WORKSHOP = Actor("ada", "desk", 1, "test", Environment.DEVELOPMENT)


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        yield console


def order(number: int, *, retry: bool = False) -> DelayedBody:
    fields = ((b"n", b"%d" % number),)
    if retry:
        return DelayedBody(RETRIES, fields, "billing", 2, f"{number}-0")
    return DelayedBody("orders", fields)


async def act(console: Console, intent: Struct) -> tuple[Plan, Outcome]:
    prepared = await console.prepare(intent)
    return prepared.plan, await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))


def waiting(server: RunningServer) -> list[bytes]:
    members: list[bytes] = server.command("ZRANGE", QUEUE, 0, -1)
    return members


async def test_selected_messages_run_now_in_the_order_given(
    server: RunningServer, connected: Server, console: Console
) -> None:
    for number in range(3):
        await schedule(connected, "orders", f"m{number}", order(number), HOUR)
    await schedule(connected, "orders", "r", order(9, retry=True), HOUR)
    plan, outcome = await act(console, RunDelayedIntent(stream="orders", ids=("m2", "r", "m0", "none", "m0")))
    assert (plan.count, plan.impact, plan.unit) == (3, Impact.REDELIVERS, ("message", "messages"))
    assert plan.effects == (
        "3 messages will be added to orders (2), {orders}:retry:billing (1) and removed from the queue.",
        RETRY_EFFECT,
    )
    assert plan.sample == (
        "m2 to orders, due in 59 min",
        "r to {orders}:retry:billing, due in 59 min, attempt 2 of group billing",
        "m0 to orders, due in 59 min",
    )
    assert plan.warnings == ("1 ID is not in the queue, and will be left out.",)
    assert plan.command == "streamops delayed run-now orders --ids m2 --ids r --ids m0 --ids none --ids m0"
    assert outcome.applied == 3
    assert parts_of(server, "orders") == [[b"n", b"2"], [b"n", b"0"]]
    assert parts_of(server, RETRIES) == [[b"n", b"9", b"_so_origin_id", b"9-0", b"_so_attempt", b"2"]]
    assert waiting(server) == server.command("HKEYS", BODIES) == [b"m1"]


async def test_messages_that_are_overdue_run_now(
    server: RunningServer, connected: Server, console: Console
) -> None:
    await schedule(connected, "orders", "overdue", order(1), LONG_AGO)
    await schedule(connected, "orders", "later", order(2), HOUR)
    plan, outcome = await act(console, RunDelayedIntent(stream="orders", before=timedelta(0)))
    assert plan.command == "streamops delayed run-now orders --before 0s"
    assert outcome.applied == 1
    assert waiting(server) == [b"later"]
    far = datetime(2100, 1, 1, tzinfo=UTC)
    assert (await act(console, RunDelayedIntent(stream="orders", before=far)))[1].applied == 1


async def test_more_messages_than_a_batch_are_all_run(server: RunningServer, console: Console) -> None:
    """More than a batch."""
    server.commands(("ZADD", QUEUE, number, f"m{number:04}") for number in range(1_200))
    server.commands(
        ("HSET", BODIES, f"m{number:04}", encode_body(order(number, retry=number >= 1_100)))
        for number in range(1_200)
    )
    plan, outcome = await act(console, RunDelayedIntent(stream="orders", every=True))
    assert plan.count == outcome.applied == 1_200
    assert "to orders (1,100), {orders}:retry:billing (100)" in plan.effects[0]
    assert [fields[1] for fields in parts_of(server, "orders")] == [b"%d" % number for number in range(1_100)]
    assert server.command("XLEN", RETRIES) == 100
    assert server.command("EXISTS", QUEUE, BODIES) == 0


async def test_what_cannot_run_is_left_out(
    server: RunningServer, connected: Server, console: Console
) -> None:
    await schedule(connected, "orders", "good", order(1), HOUR)
    server.command("ZADD", QUEUE, 2, "broken")
    server.command("HSET", BODIES, "broken", ODD, "stray", encode_body(order(2)))
    plan, outcome = await act(console, RunDelayedIntent(stream="orders", ids=("broken", "stray", "good")))
    assert (plan.count, outcome.applied) == (1, 1)
    (warning,) = plan.warnings
    assert warning.startswith("2 messages cannot become entries and will be left out, such as broken: ")
    assert warning.endswith(" its fields are no pairs.")
    assert waiting(server) == [b"broken"]


async def test_cancel_keeps_what_it_removes(
    server: RunningServer, connected: Server, console: Console, tmp_path: Path
) -> None:
    await schedule(connected, "orders", "a", order(1), HOUR)
    await schedule(connected, "orders", "b\udcff", order(2, retry=True), HOUR)
    server.command("HSET", BODIES, "stray", ODD)
    path = tmp_path / "cancelled.jsonl"
    intent = CancelDelayedIntent(stream="orders", ids=("a", "b\udcff", "stray"), backup=str(path))
    plan, outcome = await act(console, intent)
    assert (plan.count, plan.impact, plan.confirm) == (3, Impact.DESTRUCTIVE, "orders")
    assert plan.effects[-1] == f"Each is written to {path} before it is removed."
    assert plan.loses == (
        f"3 messages; `streamops restore {path} --to STREAM --new-ids` adds them as entries, without their delay."
    )
    assert plan.command.endswith(f" --ids stray --backup {path}")
    assert outcome.applied == 3
    assert server.command("EXISTS", QUEUE, BODIES, "orders") == 0
    kept = [(stream, entry.fields) for stream, entry in read_backup(path)]
    assert kept == [
        ("orders", ((b"n", b"1"),)),
        (RETRIES, ((b"n", b"2"), (b"_so_origin_id", b"2-0"), (b"_so_attempt", b"2"))),
        ("orders", ((b"_so_delayed_body", ODD),)),
    ]
    told = [msgspec.json.decode(line)["delayed"] for line in path.read_bytes().splitlines()]
    assert [one["id"] for one in told] == ["a", {"base64": "Yv8="}, "stray"]
    assert told[1] == told[0] | {
        "id": {"base64": "Yv8="},
        "due_at": told[1]["due_at"],
        "group": "billing",
        "attempt": 2,
        "origin_id": "2-0",
    }
    _, restored = await act(console, RestoreIntent(file=str(path), to="orders:again", new_ids=True))
    assert restored.applied == server.command("XLEN", "orders:again") == 3
    with pytest.raises(SettingsError, match="exists already"):
        await console.prepare(intent)


async def test_cancel_all_and_before(server: RunningServer, connected: Server, console: Console) -> None:
    await schedule(connected, "orders", "overdue", order(1), LONG_AGO)
    await schedule(connected, "orders", "later", order(2), HOUR)
    plan, _ = await act(console, CancelDelayedIntent(stream="orders", before=timedelta(minutes=1)))
    assert plan.effects[0] == (
        "1 message will never be delivered; 1 message will stay in the queue of orders."
    )
    assert waiting(server) == [b"later"]
    plan, outcome = await act(console, CancelDelayedIntent(stream="orders", every=True))
    assert (plan.loses, outcome.applied) == ("1 message for good: no backup is written.", 1)


async def test_a_selection_of_no_messages_changes_nothing(console: Console, server: RunningServer) -> None:
    server.command("XADD", "orders", "1-0", "f", "v")
    for intent in (
        RunDelayedIntent(stream="orders", ids=("none",)),
        CancelDelayedIntent(stream="orders", every=True),
    ):
        plan, outcome = await act(console, intent)
        assert plan.count == outcome.applied == 0
    with pytest.raises(ValueError, match="give one of --ids, --before and --all"):
        RunDelayedIntent(stream="orders")
    assert server.command("KEYS", "*") == [b"orders"]


async def test_neither_messages_nor_a_stream(console: Console, server: RunningServer) -> None:
    server.command("SET", "string", "x")
    for kind in (RunDelayedIntent, CancelDelayedIntent):
        with pytest.raises(NotFound, match="there is no stream nope, and it has no delayed messages"):
            await console.prepare(kind(stream="nope", every=True))
        with pytest.raises(NotFound, match="stream string: "):
            await console.prepare(kind(stream="string", ids=("none",)))


async def test_a_queue_of_another_type_is_an_error(console: Console, server: RunningServer) -> None:
    server.command("SET", QUEUE, "x")
    with pytest.raises(ServerError, match=r"{orders}:delayed: "):
        await console.prepare(RunDelayedIntent(stream="orders", every=True))


async def test_what_changes_after_the_plan_is_left_alone(
    server: RunningServer, connected: Server, console: Console
) -> None:
    for ident in ("a", "b"):
        await schedule(connected, "orders", ident, order(1), HOUR)
    for intent in (
        CancelDelayedIntent(stream="orders", ids=("a", "b")),
        RunDelayedIntent(stream="orders", ids=("a", "b")),
    ):
        prepared = await console.prepare(intent)
        server.command("ZREM", QUEUE, "a")
        server.command("HDEL", BODIES, "a")
        await schedule(connected, "orders", "c", order(3), LONG_AGO)
        if isinstance(intent, CancelDelayedIntent):
            server.command("ZREM", QUEUE, "b")
            server.command("HDEL", BODIES, "b")
        outcome = await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
        assert outcome.applied == (0 if isinstance(intent, CancelDelayedIntent) else 1)
        assert Skipped("a", "no longer delayed") in outcome.skipped
        await schedule(connected, "orders", "a", order(1), HOUR)
        await schedule(connected, "orders", "b", order(1), HOUR)
    assert b"c" in waiting(server)


async def test_entry_that_no_script_can_write(
    server: RunningServer, connected: Server, console: Console
) -> None:
    await schedule(connected, "orders", "wide", DelayedBody("orders", ((b"f", b"v"),) * 3_901), HOUR)
    await schedule(connected, "orders", "good", order(1), HOUR)
    _, outcome = await act(console, RunDelayedIntent(stream="orders", every=True))
    assert (outcome.applied, outcome.failed_count) == (1, 1)
    assert outcome.failed[0].error == "it has more than 3,900 fields"
    assert waiting(server) == [b"wide"]


async def test_a_run_without_memory_fails_and_moves_nothing_by_half(
    start_server: StartServer, program: ServerProgram
) -> None:
    server = start_server(program=program)
    connection = await Server.connect(server.options)
    for number in range(3):
        await schedule(connection, "orders", f"m{number}", order(number), HOUR)
    await connection.close()
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        prepared = await console.prepare(RunDelayedIntent(stream="orders", every=True))
        server.command("CONFIG", "SET", "maxmemory", 1)
        with pytest.raises(ServerError, match="XADD on orders: the server is out of memory"):
            await console.apply(prepared, Confirmation(yes=True))
    assert server.command("ZCARD", QUEUE) == server.command("HLEN", BODIES) == 3
    assert server.command("EXISTS", "orders") == 0


async def test_queues_that_are_read_tell_messages_and_those_that_are_due(
    server: RunningServer, connected: Server
) -> None:
    await schedule(connected, "orders", "a", order(1), LONG_AGO)
    await schedule(connected, "{payments}:dlq", "b", order(1), HOUR)
    server.command("SET", "{wrong}:delayed", "x")
    found = await DelayedReader(ServerContext(connected)).queues(
        ["{orders}:dlq", "{payments}:dlq", "wrong", "none"]
    )
    assert [(queue.stream, queue.messages, queue.due) for queue in found.queues] == [
        ("orders", 1, 1),
        ("{payments}:dlq", 1, 0),
    ]
    assert [gap.stream for gap in found.gaps] == ["wrong"]
    assert (await DelayedReader(ServerContext(connected)).queues([])).queues == ()


async def test_reading_a_queue_with_halves(server: RunningServer, connected: Server) -> None:
    await schedule(connected, "orders", "later", order(2), HOUR)
    await schedule(connected, "orders", "overdue", order(1), LONG_AGO)
    server.command("ZADD", QUEUE, 1, "bodiless")
    server.command("HSET", BODIES, "stray", encode_body(order(3)))
    page = await DelayedReader(ServerContext(connected)).page("orders", 10)
    assert [message.id for message in page.messages] == ["bodiless", "overdue", "later"]
    assert [message.id for message in page.strays] == ["stray"]
    first = await DelayedReader(ServerContext(connected)).page("orders", 1)
    assert ([message.id for message in first.messages], first.queue.messages) == (["bodiless"], 3)


async def test_an_entry_is_published_as_given_and_creates_its_stream(
    server: RunningServer, console: Console
) -> None:
    fields = ((b"tag", b"a"), (b"tag", b"b\xff"), (b"", b""))
    plan, outcome = await act(console, PublishIntent(stream="orders", pairs=fields))
    assert plan.effects == ("Stream orders will be created, with one entry and no group.",)
    assert plan.command == "streamops publish orders tag=a $'tag=b\\xff' ="
    ((entry_id, written),) = server.command("XRANGE", "orders", "-", "+")
    assert written == [b"tag", b"a", b"tag", b"b\xff", b"", b""]
    assert outcome.notes == (f"entry {entry_id.decode()} was added to orders",)
    server.command("XGROUP", "CREATE", "orders", "g", "0")
    plan, _ = await act(console, PublishIntent(stream="orders", pairs=fields, id="99999999999999"))
    assert plan.effects == ("One entry will be added to orders; 1 group will get it.",)
    assert server.command("XINFO", "STREAM", "orders")[7] == b"99999999999999-0"
    assert [record[1][1] for record in server.command("XRANGE", "streamops:audit", "-", "+")] == [
        b"begun",
        b"done",
    ] * 2


async def test_publish_with_a_cap(server: RunningServer, console: Console) -> None:
    for number in range(300):
        server.command("XADD", "orders", f"{number + 1}-0", "n", number)
    plan, _ = await act(console, PublishIntent(stream="orders", pairs=((b"n", b"1"),), maxlen=100))
    assert (plan.impact, plan.loses) == (
        Impact.REDELIVERS,
        "At most 201 entries at the stream's beginning, which no group needs.",
    )
    assert 100 <= server.command("XLEN", "orders") < 300
    plan, _ = await act(console, PublishIntent(stream="orders", pairs=((b"n", b"1"),), maxlen=1_000))
    assert (plan.impact, plan.loses) == (Impact.REVERSIBLE, "")


def fill_for_a_cap(server: RunningServer, *, position: str) -> None:
    for number in range(300):
        server.command("XADD", "orders", f"{number + 1}-0", "n", number)
    server.command("XGROUP", "CREATE", "orders", "billing", position)
    server.command("XGROUP", "CREATE", "orders", "idle", "$")
    server.command("XREADGROUP", "GROUP", "billing", "w", "COUNT", "10", "STREAMS", "orders", ">")


CAPPED = PublishIntent(stream="orders", pairs=((b"n", b"1"),), maxlen=100)


async def test_a_cap_that_drops_what_a_group_needs_is_asked_about(
    server: RunningServer, console: Console
) -> None:
    fill_for_a_cap(server, position="50-0")
    prepared = await console.prepare(CAPPED)
    plan = prepared.plan
    assert (plan.impact, plan.confirm) == (Impact.DESTRUCTIVE, "orders")
    assert "141 of them unread and 10 pending" in plan.loses
    assert (
        "Group billing loses 141 entries that it has yet to read and 10 pending entries (w 10)."
        in plan.effects
    )
    assert "Group idle loses nothing." in plan.effects
    with pytest.raises(Forbidden, match="not confirmed"):
        await console.apply(prepared)
    assert server.command("XLEN", "orders") == 300
    _, outcome = await act(console, CAPPED)
    assert outcome.applied == 1
    assert 100 <= server.command("XLEN", "orders") < 300
    # Twice in a row: nothing but what went beyond the cap meanwhile.
    assert (await console.prepare(replace(CAPPED, maxlen=400))).plan.impact is Impact.REVERSIBLE


async def test_a_cap_drops_nothing_that_nobody_agreed_to(server: RunningServer, console: Console) -> None:
    """Between plan and apply the group is set back: what it needs again stays."""
    fill_for_a_cap(server, position="290-0")
    server.command("XACK", "orders", "billing", *(f"{number}-0" for number in range(291, 301)))
    prepared = await console.prepare(CAPPED)
    assert prepared.plan.impact is Impact.REDELIVERS
    server.command("XGROUP", "SETID", "orders", "billing", "0")
    outcome = await console.apply(prepared)
    assert (outcome.applied, server.command("XLEN", "orders")) == (1, 301)
    server.command("XGROUP", "SETID", "orders", "billing", "$")
    await console.apply(await console.prepare(CAPPED))
    assert 100 <= server.command("XLEN", "orders") < 300


async def test_a_loss_that_was_agreed_to_is_not_another_one(server: RunningServer, console: Console) -> None:
    fill_for_a_cap(server, position="50-0")
    prepared = await console.prepare(CAPPED)
    server.command("XGROUP", "CREATE", "orders", "new", "0")
    with pytest.raises(ApplyError, match="the entry was added, but not trimmed to its cap") as stopped:
        await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
    assert isinstance(stopped.value.outcome, Outcome)
    assert stopped.value.outcome.applied == 1
    assert server.command("XLEN", "orders") == 301


def test_a_publish_with_no_such_length_or_id_is_refused() -> None:
    for given in ({"maxlen": 0}, {"id": "soon"}):
        with pytest.raises(ValueError, match=r"--maxlen is 1 or more|--id: not an entry ID: 'soon'"):
            PublishIntent(stream="orders", pairs=((b"n", b""),), **given)
    assert PublishIntent(stream="orders", pairs=((b"n", b""),), delay=HOUR, id="soon").id == "soon"


async def test_a_message_published_for_later_waits_in_the_queue(
    server: RunningServer, console: Console
) -> None:
    intent = PublishIntent(stream="orders", pairs=((b"n", b"1"),), delay=HOUR, id="mine")
    plan, outcome = await act(console, intent)
    assert plan.effects == (
        "One message will wait in the queue of orders, and be due in 1 h.",
        "`streamops delayed rm orders --ids mine` removes it until it is due.",
    )
    assert plan.command == "streamops publish orders n=1 --delay 1h --id mine"
    assert re.fullmatch(r"message mine of orders is due at 20.{17}Z", outcome.notes[0])
    assert (plan.impact, plan.loses) == (Impact.REVERSIBLE, "")
    assert waiting(server) == [b"mine"]
    assert server.command("EXISTS", "orders") == 0
    with pytest.raises(Forbidden, match="has a delayed message mine already"):
        await console.prepare(intent)
    assert (await act(console, PublishIntent(stream="orders", pairs=((b"n", b"1"),), delay=HOUR)))[1].applied


@pytest.mark.parametrize(
    ("intent", "message"),
    [
        (PublishIntent(stream="orders", pairs=()), "no fields"),
        (PublishIntent(stream="orders", pairs=((b"n", b""),), id="0"), "takes IDs after 0-0 only"),
        (
            PublishIntent(stream="orders", pairs=((b"n", b""),), delay=HOUR, maxlen=3),
            "a delayed message cannot trim its stream",
        ),
    ],
)
async def test_publishing_nonsense(intent: PublishIntent, message: str, server: RunningServer) -> None:
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        with pytest.raises(Forbidden, match=message) as refused:
            await console.prepare(intent)
    assert refused.value.hint
    assert server.command("DBSIZE") == 0


async def test_publish_meets_a_greater_id(server: RunningServer, console: Console) -> None:
    server.command("XADD", "orders", "5-0", "f", "v")
    prepared = await console.prepare(PublishIntent(stream="orders", pairs=((b"n", b"1"),), id="7-0"))
    server.command("XADD", "orders", "8-0", "f", "v")
    with pytest.raises(Forbidden, match="IDs after 8-0 only"):
        await console.prepare(prepared.intent)
    with pytest.raises(Exception, match="an entry with a greater ID has been added"):
        await console.apply(prepared)
    assert EntryId.parse(server.command("XINFO", "STREAM", "orders")[7]) == EntryId(8, 0)


async def test_cancel_tells_what_became_due_meanwhile(
    server: RunningServer,
    connected: Server,
    console: Console,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def published_first(asked: Server, stream: str, messages: Sequence[DelayedMessage]) -> object:
        server.command("ZREM", QUEUE, "a")
        server.command("HDEL", BODIES, "a")
        return await cancel(asked, stream, messages)

    await schedule(connected, "orders", "a", order(1), HOUR)
    await schedule(connected, "orders", "b", order(2), HOUR)
    path = tmp_path / "cancelled.jsonl"
    monkeypatch.setattr(delayed_cancel, "cancel", published_first)
    _, outcome = await act(console, CancelDelayedIntent(stream="orders", ids=("a", "b"), backup=str(path)))
    assert (outcome.applied, outcome.skipped_count) == (1, 1)
    assert [entry.fields for _, entry in read_backup(path)] == [((b"n", b"2"),)]
