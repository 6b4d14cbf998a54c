"""Which letters a replay takes."""

from datetime import timedelta

import pytest

from streamops.errors import (
    Forbidden,
)
from streamops.model.acting import Confirmation, Limits
from streamops.model.entries import EntryId
from streamops.operations.console import Console
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.replay.intent import ReplayIntent
from tests.support.monitor.dead_letters import (
    QUEUE,
    STREAM,
    add_letter,
    add_letters,
    do,
    make_group,
    payloads,
)
from tests.support.operations.replaying.fields import OWN
from tests.support.servers import RunningServer
from tests.support.streams import entries_of


@pytest.mark.parametrize(
    ("intent", "taken"),
    [
        ({"where": "fields.n == '2'"}, [2]),
        ({"where": "json.n > `3` && group == 'billing' && deliveries > `1`"}, [4, 5]),
        ({"where": "error == 'boom' && reason == 'rejected'"}, [1]),
        ({"because": "rejected"}, [1, 3, 5]),
        ({"ids": (EntryId(1_000_004, 0), EntryId(1_000_001, 0), EntryId(7, 7))}, [1, 4]),
        ({"count": 2}, [0, 1]),
        ({"because": "rejected", "count": 2}, [1, 3]),
        ({"since": EntryId(1_000_002, 0).time, "until": EntryId(1_000_003, 0).time}, [2, 3]),
        ({"since": timedelta(days=1)}, []),
        ({"until": timedelta(days=1), "count": 1}, [0]),
    ],
)
async def test_a_replay_takes_the_letters_that_its_selection_matches(
    server: RunningServer, console: Console, intent: dict[str, object], taken: list[int]
) -> None:
    make_group(server)
    for number in range(6):
        reason = ("max-deliveries", "rejected")[number % 2]
        error = {"error": "boom"} if number == 1 else {}
        add_letter(server, [("n", str(number))], entry_id=f"{1_000_000 + number}-0", reason=reason, **error)
    prepared = await console.prepare(ReplayIntent(queue=QUEUE, **intent))  # type: ignore[arg-type]
    assert prepared.plan.count == len(taken)
    assert len(prepared.plan.sample) == len(taken)
    outcome = await console.apply(prepared, Confirmation(yes=True))
    assert outcome.applied == len(taken)
    assert payloads(server, STREAM) == [[b"n", str(number).encode()] for number in taken]
    assert server.command("XLEN", QUEUE) == 6 - len(taken)


async def test_many_letters_in_batches(server: RunningServer, console: Console) -> None:
    make_group(server)
    add_letters(server, range(1_203))
    seen: list[int] = []
    outcome = await do(
        console, ReplayIntent(queue=QUEUE), progress=lambda progress: seen.append(progress.done)
    )
    assert outcome.applied == 1_203
    assert payloads(server, STREAM) == [[b"n", str(number).encode()] for number in range(1_203)]
    assert {500, 1_000, 1_203} <= set(seen)


async def test_ids_that_are_not_there_are_told(server: RunningServer, console: Console) -> None:
    make_group(server)
    letter = EntryId.parse(add_letter(server, OWN))
    absent = (EntryId(7, 7), EntryId(8, 8))
    for intent in (ReplayIntent, PurgeIntent):
        plan = (await console.prepare(intent(queue=QUEUE, ids=(letter, *absent)))).plan
        assert (plan.count, plan.warnings) == (1, ("2 IDs are not in the queue, and will be left out.",))
        plan = (await console.prepare(intent(queue=QUEUE, ids=absent[:1]))).plan
        assert (plan.count, plan.warnings) == (0, ("1 ID is not in the queue, and will be left out.",))
        plan = (await console.prepare(intent(queue=QUEUE, ids=(letter,), because="rejected"))).plan
        assert (plan.count, plan.warnings) == (0, ())


async def test_a_replay_of_an_empty_queue_does_nothing(server: RunningServer, console: Console) -> None:
    server.command("XDEL", QUEUE, add_letter(server, OWN))
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    assert (prepared.plan.count, prepared.plan.effects) == (0, ())
    assert (await console.apply(prepared)).applied == 0


async def test_what_dies_during_a_replay_is_not_replayed_again(
    server: RunningServer, console: Console
) -> None:
    make_group(server)
    add_letters(server, range(3))
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    late = add_letter(server, [("n", "late")])
    assert (await console.apply(prepared, Confirmation(yes=True))).applied == 3
    assert [one for one, _ in entries_of(server, QUEUE)] == [late]


async def test_a_selection_of_more_than_its_limit_is_refused(server: RunningServer) -> None:
    make_group(server)
    server.command("EVAL", "for n = 1, 10400 do redis.call('XADD', KEYS[1], '*', 'a', 'b') end", 1, QUEUE)
    async with await Console.open(server.options) as console:
        with pytest.raises(Forbidden, match="more than the 10,000 allowed"):
            await console.prepare(ReplayIntent(queue=QUEUE), Limits(max_count=10_000))
        plan = (await console.prepare(ReplayIntent(queue=QUEUE))).plan
    assert plan.count == 10_400
    assert any("those of the first 10,000 dead letters" in warning for warning in plan.warnings)
