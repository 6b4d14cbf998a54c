"""The engine: what it refuses, and that whatever it refuses is refused before the first write."""

from typing import Any

import pytest
from msgspec.structs import replace

from streamops.errors import (
    ApplyError,
    Forbidden,
    NotFound,
    Refused,
    StalePlan,
    StreamopsError,
)
from streamops.model.acting import (
    Confirmation,
    Impact,
    Limits,
    Plan,
)
from streamops.model.entries import EntryId
from streamops.operations.ack.intent import AckIntent
from streamops.operations.console import Console
from streamops.operations.jobs import HeldJob
from streamops.operations.running import Run
from streamops.wire.options import Secret
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT
from tests.support.operations.engine.counting import NUMBERS, CountIntent, counting, engine
from tests.support.operations.engine.engine import (
    ACK,
    ANN,
    NACK,
    YES,
    add_three_pending,
    apply_elsewhere,
    open_as,
)
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import pending_count


def records(server: RunningServer) -> list[dict[bytes, bytes]]:
    return [
        dict(zip(fields[::2], fields[1::2], strict=True))
        for _, fields in server.command("XRANGE", AUDIT, "-", "+")
    ]


async def test_a_plan_changes_nothing(server: RunningServer, console: Console) -> None:
    prepared = await console.prepare(ACK)
    assert (prepared.plan.count, prepared.plan.impact) == (3, Impact.REDELIVERS)
    assert pending_count(server) == 3
    assert not server.command("EXISTS", AUDIT)


async def test_only_the_plan_that_was_named_is_applied(server: RunningServer, console: Console) -> None:
    named = Limits(fingerprint=(await console.prepare(ACK)).plan.fingerprint)
    assert (await console.prepare(ACK, named)).plan.fingerprint == named.fingerprint
    with pytest.raises(StalePlan, match=f"not {named.fingerprint}"):
        await console.prepare(replace(ACK, ids=ACK.ids[:1]), named)
    server.command("XACK", ACK.stream, ACK.group, str(ACK.ids[0]))
    with pytest.raises(StalePlan, match=f"not {named.fingerprint}"):
        await console.prepare(ACK, named)


async def test_an_action_is_on_record_before_and_after(server: RunningServer, console: Console) -> None:
    outcome = await console.apply(await console.prepare(NACK, Limits(reason="poison")), YES)
    assert (outcome.applied, outcome.complete) == (3, True)
    told = records(server)
    assert [record[b"phase"] for record in told] == [b"begun", b"batch", b"done"]
    assert {record.get(b"begun") or outcome.audit_id.encode() for record in told} == {
        outcome.audit_id.encode()
    }
    assert (told[0][b"user"], told[0][b"context"], told[0][b"reason"]) == (b"ann", b"test", b"poison")


async def test_the_first_record_is_there_before_the_first_write(
    server: RunningServer, connected: Server
) -> None:
    seen: list[bool] = []

    async def apply(run: Run, *_: object) -> None:
        seen.append(records(server)[0][b"phase"] == b"begun")
        await run.report(1)

    operator = engine(connected)
    prepared = await operator.prepare(counting(apply=apply), CountIntent(upto=1))
    await operator.apply(prepared, YES)
    assert seen == [True]


async def test_read_only_refuses_to_apply_and_still_plans(server: RunningServer) -> None:
    add_three_pending(server)
    async with await Console.open(server.options, actor=ANN, read_only=True) as console:
        prepared = await console.prepare(ACK)
        assert prepared.plan.count == 3
        with pytest.raises(Forbidden, match="read-only"):
            await console.apply(prepared, YES)
        with pytest.raises(Forbidden, match="read-only"):
            await console.cancel_job("any")
    assert pending_count(server) == 3
    assert not server.command("EXISTS", AUDIT)


@pytest.mark.parametrize(
    "confirmation", [Confirmation(), Confirmation(typed="2"), Confirmation(typed="orders")]
)
async def test_nothing_is_done_without_consent(
    confirmation: Confirmation, server: RunningServer, console: Console
) -> None:
    with pytest.raises(Forbidden, match="not confirmed"):
        await console.apply(await console.prepare(ACK), confirmation)
    assert pending_count(server) == 3
    assert not server.command("EXISTS", AUDIT)


async def test_the_count_typed_is_consent(server: RunningServer, console: Console) -> None:
    await console.apply(await console.prepare(ACK), Confirmation(typed="3"))
    assert pending_count(server) == 0


async def test_what_loses_state_names_the_target_to_confirm(server: RunningServer, connected: Server) -> None:
    def plan(*_: object) -> Plan:
        return Plan(
            operation="count", target="odd one", impact=Impact.DESTRUCTIVE, count=1, confirm="odd one"
        )

    operator = engine(connected)
    operator.actor = ANN
    prepared = await operator.prepare(counting(plan=plan), CountIntent(upto=1))
    with pytest.raises(Forbidden) as told:
        await operator.apply(prepared, YES)
    assert "--confirm 'odd one'" in told.value.hint
    assert not server.command("EXISTS", NUMBERS)
    await operator.apply(prepared, Confirmation(typed="odd one"))
    assert server.command("LLEN", NUMBERS) == 1


async def test_an_empty_selection_needs_no_consent_and_writes_nothing(
    server: RunningServer, console: Console
) -> None:
    prepared = await console.prepare(replace(ACK, ids=(EntryId(9, 9),)))
    outcome = await console.apply(prepared)
    assert (outcome.requested, outcome.applied, outcome.complete, outcome.audit_id) == (0, 0, True, "")
    assert not server.command("EXISTS", AUDIT)


@pytest.mark.parametrize(
    ("limits", "refused"),
    [
        (Limits(expect=3), ""),
        (Limits(expect=2), "3 selected, 2 expected"),
        (Limits(expect=0), "3 selected, 0 expected"),
        (Limits(max_count=3), ""),
        (Limits(max_count=2), "more than the 2 allowed"),
        (Limits(max_count=0), "more than the 0 allowed"),
    ],
)
async def test_a_plan_is_held_to_its_limits(limits: Limits, refused: str, console: Console) -> None:
    if not refused:
        assert (await console.prepare(ACK, limits)).plan.count == 3
        return
    with pytest.raises(Forbidden, match=refused):
        await console.prepare(ACK, limits)


async def test_a_very_large_selection_has_to_be_allowed(connected: Server) -> None:
    operator, intent = engine(connected), CountIntent(upto=10_000_000)
    with pytest.raises(Forbidden, match="more than the 1,000,000 allowed") as told:
        await operator.prepare(counting(), intent)
    assert "--max" in told.value.hint
    assert (await operator.prepare(counting(), intent, Limits(max_count=10_000_000))).plan.count == 10_000_000


@pytest.mark.parametrize(
    ("intent", "what"),
    [
        (replace(ACK, stream="nowhere"), "nowhere"),
        (replace(ACK, group="nobody"), "nobody"),
        (replace(ACK, stream="text"), "text"),
    ],
)
async def test_what_is_not_there_cannot_be_planned(
    intent: AckIntent, what: str, server: RunningServer, console: Console
) -> None:
    server.command("SET", "text", "x")
    with pytest.raises(NotFound, match=what):
        await console.prepare(intent)


@pytest.mark.parametrize(
    ("selector", "limits", "line"),
    [
        ((), Limits(), "streamops ack orders billing --ids 1-0,2-0,3-0"),
        (("-c", "my prod"), Limits(), "streamops -c 'my prod' ack orders billing --ids 1-0,2-0,3-0"),
        ((), Limits(rate=0.5), "streamops ack orders billing --ids 1-0,2-0,3-0 --rate 0.5/s"),
    ],
)
async def test_the_command_line_reaches_the_same_server_as_fast(
    selector: tuple[str, ...], limits: Limits, line: str, server: RunningServer
) -> None:
    add_three_pending(server)
    async with await Console.open(server.options, actor=replace(ANN, selector=selector)) as console:
        assert (await console.prepare(ACK, limits)).plan.command == line


async def test_a_wrong_name_is_told_from_none(console: Console) -> None:
    prepared = await console.prepare(ACK)
    with pytest.raises(Forbidden, match="not confirmed") as told:
        await console.apply(prepared, Confirmation(typed="z z"))
    assert told.value.hint == "Nothing was done: --confirm 'z z' is not 3."


async def test_another_server_is_not_the_one_of_the_plan(
    program: ServerProgram, own_server: RunningServer, start_server: StartServer
) -> None:
    async with await Console.open(own_server.options, actor=ANN) as console:
        prepared = await console.prepare(ACK)
    other = start_server(program=program)
    add_three_pending(other)
    with pytest.raises(StalePlan, match="another server") as told:
        await apply_elsewhere(other, prepared)
    assert told.value.exit_code == 6
    assert pending_count(other) == 3
    assert not other.command("EXISTS", AUDIT)


async def test_a_stream_made_anew_is_not_the_one_of_the_plan(server: RunningServer, console: Console) -> None:
    prepared = await console.prepare(ACK)
    server.command("FLUSHALL")
    server.command("XADD", "orders", "2-0", "n", "other")
    with pytest.raises(StalePlan, match="another stream"):
        await console.apply(prepared, YES)
    assert not server.command("EXISTS", AUDIT)


async def test_a_stream_that_is_gone_is_not_the_one_of_the_plan(
    server: RunningServer, console: Console
) -> None:
    prepared = await console.prepare(ACK)
    server.command("FLUSHALL")
    with pytest.raises(StreamopsError) as told:
        await console.apply(prepared, YES)
    assert told.value.exit_code in {1, 6}
    assert not server.command("EXISTS", AUDIT)


@pytest.mark.parametrize(
    "change",
    [
        ("XGROUP", "DESTROY", "orders", "billing"),
        ("XGROUP", "SETID", "orders", "billing", "1-0"),
        ("DEL", "orders"),
    ],
    ids=" ".join,
)
async def test_what_changes_after_the_check_aborts_in_the_script(
    change: tuple[str, ...], server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = await console.prepare(ACK)
    begin = console.engine._open_job

    async def meanwhile(*args: Any) -> HeldJob | None:
        server.command(*change)
        return await begin(*args)

    monkeypatch.setattr(console.engine, "_open_job", meanwhile)
    with pytest.raises(StalePlan):
        await console.apply(prepared, YES)
    told = records(server)
    assert [record[b"phase"] for record in told] == [b"begun", b"failed"]
    if change[1] == "SETID":
        assert pending_count(server) == 3


async def test_an_entry_that_changed_meanwhile_is_skipped_with_its_reason(
    server: RunningServer, console: Console
) -> None:
    prepared = await console.prepare(ACK)
    server.command("XACK", "orders", "billing", "2-0")
    outcome = await console.apply(prepared, YES)
    assert (outcome.applied, outcome.skipped_count, outcome.complete) == (2, 1, True)
    assert outcome.skipped[0].id == "2-0"
    assert outcome.skipped[0].reason


async def test_drift_in_the_middle_does_not_say_that_nothing_was_done(connected: Server) -> None:
    async def apply(run: Run, *_: object) -> None:
        await run.report(1)
        raise StalePlan("the group is gone", "Nothing was done. Make a new plan.")

    operator = engine(connected)
    prepared = await operator.prepare(counting(apply=apply), CountIntent(upto=2))
    with pytest.raises(ApplyError, match="the group is gone") as caught:
        await operator.apply(prepared, YES)
    outcome: Any = caught.value.outcome
    assert caught.value.hint == (
        f"What was applied until then stays; `streamops audit show {outcome.audit_id}` shows it. "
        "Make a new plan."
    )


async def test_without_a_record_nothing_is_done(own_server: RunningServer) -> None:
    # All keys but the audit log's.
    async with await open_as(own_server, "resetkeys", "~orders*") as console:
        prepared = await console.prepare(ACK)
        with pytest.raises(Forbidden, match=f"the audit log {AUDIT} cannot be written") as told:
            await console.apply(prepared, YES)
        assert "--unaudited" in told.value.hint
        assert pending_count(own_server) == 3
        outcome = await console.apply(await console.prepare(ACK, Limits(unaudited=True)), YES)
    assert (outcome.applied, outcome.audit_id, pending_count(own_server)) == (3, "", 0)
    assert not own_server.command("EXISTS", AUDIT)


async def test_a_log_that_cannot_be_written_is_told_with_the_plan(own_server: RunningServer) -> None:
    async with await open_as(own_server, "resetkeys", "~orders*") as console:
        (warning,) = (await console.prepare(ACK)).plan.warnings
        assert warning.startswith("The audit log cannot be written: ")
        assert warning.endswith("; applying is refused unless --unaudited.")
        (warning,) = (await console.prepare(ACK, Limits(unaudited=True))).plan.warnings
        assert warning.endswith("; it would leave no record.")
        nothing = (await console.prepare(replace(ACK, ids=(EntryId(9, 9),)))).plan.warnings
        assert not [warning for warning in nothing if "audit" in warning]
    async with await Console.open(own_server.options, actor=ANN) as console:
        assert not (await console.prepare(ACK)).plan.warnings
    assert not own_server.command("EXISTS", AUDIT)


async def test_a_key_that_may_not_be_written_is_told_before_the_first_write(
    own_server: RunningServer,
) -> None:
    if own_server.program.flavour == "redis" and own_server.program.version < (7,):
        pytest.skip("Redis 6.2 cannot tell reading a key from writing it")
    async with await open_as(own_server, "resetkeys", "%R~orders", "~streamops:*") as console:
        prepared = await console.prepare(ACK)
        with pytest.raises(Refused):
            await console.apply(prepared, YES)
    assert pending_count(own_server) == 3
    assert not own_server.command("EXISTS", AUDIT)


async def test_a_job_that_cannot_be_written_is_told_before_the_first_write(
    own_server: RunningServer,
) -> None:
    login = replace(own_server.options, username="op", password=Secret("pw"))
    own_server.command(
        "ACL", "SETUSER", "op", "reset", "on", ">pw", "~orders", f"~{NUMBERS}", f"~{AUDIT}", "+@all"
    )
    connection = await Server.connect(login)
    operator = engine(connection)
    prepared = await operator.prepare(counting(), CountIntent(upto=50))
    with pytest.raises(StreamopsError, match="job"):
        await operator.apply(prepared, YES)
    await connection.close()
    assert not own_server.command("EXISTS", AUDIT)
    assert not own_server.command("EXISTS", NUMBERS)
