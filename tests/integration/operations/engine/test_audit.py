"""The audit log: what was done can be read, however odd the records are that stand between."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import NotFound
from streamops.model.acting import Action, Actor, AuditPhase, Confirmation, Environment, Limits
from streamops.model.entries import LAST_ID, EntryId, StreamEntry
from streamops.operations import audit
from streamops.operations.ack.intent import AckIntent
from streamops.operations.audit import ActionQuery, action_of, decode_record, find_actions, state_before
from streamops.operations.console import Console
from streamops.operations.nack.intent import NackIntent
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT
from tests.support.operations.engine.counting import CountIntent, counting, engine
from tests.support.servers import RunningServer

ANN = Actor("ann", "desk", 7, "test", Environment.DEVELOPMENT)


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await Console.open(server.options, actor=ANN) as console:
        yield console


async def count(server: Server, upto: int, reason: str = "") -> str:
    """One action of a made-up operation; its ID."""
    operator = engine(server)
    prepared = await operator.prepare(counting(), CountIntent(upto=upto), Limits(reason=reason))
    return (await operator.apply(prepared, Confirmation(yes=True))).audit_id


async def find(console: Console, query: ActionQuery = ActionQuery()) -> list[Action]:  # noqa: B008 - frozen
    return await find_actions(console.read_actions, query)


async def test_an_empty_log_has_no_actions(console: Console) -> None:
    assert await find(console) == []


async def test_actions_are_told_newest_first_with_their_outcomes(console: Console, connected: Server) -> None:
    ids = [await count(connected, number, f"reason {number}") for number in (1, 2, 3)]
    actions = await find(console)
    assert [action.first.id for action in actions] == ids[::-1]
    assert [action.first.reason for action in actions] == ["reason 3", "reason 2", "reason 1"]
    assert [action.last.outcome.applied for action in actions if action.last and action.last.outcome] == [
        3,
        2,
        1,
    ]


async def test_actions_are_found_by_what_they_did_to_what_and_when(
    server: RunningServer, console: Console, connected: Server
) -> None:
    ids = [await count(connected, 1) for _ in range(4)]
    server.command("XADD", "orders", "1-0", "n", 1)
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker", "STREAMS", "orders", ">")
    prepared = await console.prepare(AckIntent(stream="orders", group="billing", ids=(EntryId(1, 0),)))
    ack = (await console.apply(prepared, Confirmation(yes=True))).audit_id
    for query, wanted in (
        (ActionQuery(operation="ack"), [ack]),
        (ActionQuery(target="orders"), [ack]),
        (ActionQuery(target="orders/billing"), [ack]),
        (ActionQuery(target="order"), []),
        (ActionQuery(operation="count", limit=2), [ids[3], ids[2]]),
        (ActionQuery(start=EntryId.parse(ids[2]), operation="count"), [ids[3], ids[2]]),
        (ActionQuery(end=EntryId.parse(ids[1])), [ids[1], ids[0]]),
        (ActionQuery(start=LAST_ID), []),
    ):
        assert [action.first.id for action in await find(console, query)] == wanted


async def test_all_pages_of_the_log_are_searched(
    console: Console, connected: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "PAGE", 4)
    ids = [await count(connected, 1) for _ in range(10)]
    assert [action.first.id for action in await find(console, ActionQuery(limit=1_000))] == ids[::-1]
    oldest = ActionQuery(end=EntryId.parse(ids[0]), limit=5)
    assert [action.first.id for action in await find(console, oldest)] == ids[:1]


async def test_records_that_cannot_be_read_do_not_hide_the_others(
    server: RunningServer, console: Console, connected: Server
) -> None:
    first = await count(connected, 1)
    for fields in (
        ("f", "v"),
        ("phase", "begun"),
        (
            "phase",
            "begun",
            "operation",
            b"\xff\x1b[31m",
            "plan",
            b"\xff",
            "pid",
            "many",
            "environment",
            "moon",
        ),
        ("phase", "done"),
        ("phase", "done", "begun", "not an ID", "outcome", "{}"),
        ("phase", "done", "begun", first, "outcome", '{"operation": 7}'),
        ("phase", "some day", "begun", first),
        ("phase", "batch", "begun", first, "undo", b"\xff\xff"),
    ):
        server.command("XADD", AUDIT, "*", *fields)
    second = await count(connected, 2)
    actions = await find(console)
    assert actions[0].first.id == second
    assert first in [action.first.id for action in actions]
    odd = next(action for action in actions if action.first.operation == "\udcff\x1b[31m")
    assert (odd.first.plan, odd.first.actor.pid, odd.first.actor.environment) == (
        None,
        0,
        Environment.PRODUCTION,
    )
    assert action_of(await console.read_action(EntryId.parse(second))).last is not None


async def test_an_action_tells_what_was_before(server: RunningServer, console: Console) -> None:
    for number in (1, 2):
        server.command("XADD", "orders", f"{number}-0", "n", number)
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker", "STREAMS", "orders", ">")
    ids = (EntryId(1, 0), EntryId(2, 0))
    prepared = await console.prepare(NackIntent(stream="orders", group="billing", ids=ids))
    outcome = await console.apply(prepared, Confirmation(yes=True))
    told = await console.read_action(EntryId.parse(outcome.audit_id))
    action, before = action_of(told), state_before(told)
    assert [(row.id, row.consumer, row.delivery_count) for row in before.rows] == [
        (one, "worker", 1) for one in ids
    ]
    assert action.first.plan == prepared.plan
    assert action.last is not None
    assert action.last.outcome is not None
    assert (action.last.outcome.applied, action.last.phase) == (2, AuditPhase.DONE)


async def test_an_action_that_is_not_there(console: Console, connected: Server) -> None:
    with pytest.raises(NotFound, match="no action 1-1"):
        await console.read_action(EntryId(1, 1))
    audit_id = EntryId.parse(await count(connected, 1))
    with pytest.raises(NotFound):
        await console.read_action(audit_id.next())


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"phase", b"begun", b"pid", b"plan", b"outcome", b"undo", b"user"]),
            st.binary(max_size=30),
        ),
        max_size=8,
    )
)
def test_no_record_fails_to_decode(fields: list[tuple[bytes, bytes]]) -> None:
    record = decode_record(StreamEntry(EntryId(2**63, 5), tuple(fields)))
    assert record.id == f"{2**63}-5"
    assert EntryId.parse(record.begun_id)
    assert record.at is None


def test_a_record_s_time_is_its_id_s() -> None:
    record = decode_record(StreamEntry(EntryId(1_000, 0), ()))
    assert record.at is not None
    assert record.at.timestamp() == timedelta(seconds=1).total_seconds()
