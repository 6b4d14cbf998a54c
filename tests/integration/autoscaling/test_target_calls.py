"""Asking a target through the engine on a real server: once, under the lead, and less and less often where it fails."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from itertools import count, pairwise
from typing import Any

import pytest

from streamops.autoscaling.target_calls import BELIEVED, UNANSWERED, UNTOLD, TargetCalls
from streamops.errors import TargetChanged, TargetError
from streamops.model.entries import EPOCH
from streamops.model.pools import Applied, FencingToken, PoolDecision, PoolSize, ScaleCode
from streamops.operations.console import Console
from tests.support.autoscaling.pools import AUDIT, KEY, POOL, Workers, console_on
from tests.support.servers import RunningServer

TOKEN = FencingToken("me", 1, timedelta(seconds=15))
PATIENT = 10.0


class Time:
    """A clock that goes when it is told to."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Place:
    """A target, the calls to it, and their clock; the lease is its own."""

    def __init__(self, server: RunningServer, console: Console, target: Workers) -> None:
        self.server, self.target, self.time = server, target, Time()
        self.calls = TargetCalls(console, POOL, self.time)

    async def ask(
        self, target: int, *, token: FencingToken = TOKEN, patience: float = PATIENT
    ) -> PoolDecision:
        """What a round does: hear, then ask."""
        size = self.target.count if self.target.on_read is None else self.target.on_read()
        self.calls.hear(PoolSize(ordered=size))
        decision = PoolDecision(
            at=EPOCH,
            code=ScaleCode.BACKLOG,
            text="900 waiting",
            ordered=size,
            ready=size,
            target=target,
        )
        return await self.calls.ask(decision, token, patience)

    async def rounds(self, target: int, seconds: float) -> list[float]:
        """Go round every five seconds; when the target was asked, in seconds from now."""
        began, asked = self.time.now, []
        while self.time.now - began < seconds:
            before = len(self.target.asked)
            await self.ask(target)
            if len(self.target.asked) > before:
                asked.append(self.time.now - began)
            self.time.now += 5.0
        return asked


@pytest.fixture
async def place(server: RunningServer) -> AsyncIterator[Place]:
    far = 4_000_000_000_000
    server.command("HSET", KEY, "leader", "me", "leader_until", far, "term", 1)
    target = Workers()
    async with console_on(server, target) as console:
        place = Place(server, console, target)
        yield place
        await place.calls.drop()


def failing(*, retry_after: float | None = None) -> Callable[[int], object]:
    def fail(_: int) -> object:
        pause = None if retry_after is None else timedelta(seconds=retry_after)
        raise TargetError("it refuses", "Ask it.", retry_after=pause)

    return fail


async def test_what_was_decided_is_asked_for_once_and_recorded_with_the_reason(place: Place) -> None:
    done = await place.ask(5)
    assert (done.outcome, place.target.asked, place.target.count) == (Applied.DONE, [5], 5)
    assert (await place.ask(5)).outcome is Applied.KEPT
    assert place.target.asked == [5]
    records = [
        dict(zip(fields[::2], fields[1::2], strict=True))
        for _, fields in place.server.command("XRANGE", AUDIT, "-", "+")
    ]
    assert [one[b"phase"] for one in records if one[b"phase"] != b"batch"] == [b"begun", b"done"]
    assert records[0][b"reason"] == b"backlog: 900 waiting"
    assert (records[0][b"operation"], records[0][b"target"]) == (b"scale.set", POOL.encode())


async def test_a_target_that_fails_is_asked_half_as_often_each_time_up_to_five_minutes(place: Place) -> None:
    place.target.on_resize = failing()
    asked = await place.rounds(5, 2_000.0)
    assert [later - earlier for earlier, later in pairwise(asked)] == [5, 10, 20, 40, 80, 160, *[300] * 5]
    assert place.calls.take_errors() == len(asked)
    assert place.calls.take_errors() == 0
    waiting = await place.ask(5)
    assert (waiting.outcome, waiting.problem) == (Applied.WAITING, "it refuses")


async def test_as_long_as_it_wants_to_be_left_alone_it_is(place: Place) -> None:
    place.target.on_resize = failing(retry_after=700)
    assert await place.rounds(5, 690.0) == [0]


async def test_once_it_works_the_next_failure_is_the_first_again(place: Place) -> None:
    place.target.on_resize = failing()
    await place.rounds(5, 200.0)
    place.target.on_resize = None
    await place.rounds(5, 400.0)
    assert place.target.count == 5
    place.target.on_resize = failing()
    assert (await place.rounds(6, 20.0))[:2] == [0, 5]


async def test_one_that_was_changed_meanwhile_is_read_anew_without_a_pause(place: Place) -> None:
    def changed(_: int) -> object:
        raise TargetChanged("another number by now", "Make a new plan.")

    place.target.on_resize = changed
    asked = await place.rounds(5, 40.0)
    assert asked == [5.0 * turn for turn in range(8)]
    assert place.calls.take_errors() == 0
    assert (await place.ask(5)).outcome is Applied.CHANGED


async def test_what_changed_before_the_target_was_looked_at_is_no_error_either(place: Place) -> None:
    seen = place.target.count
    place.target.on_read = lambda: seen + 1
    place.calls.hear(PoolSize(ordered=seen))
    decision = PoolDecision(at=EPOCH, code=ScaleCode.IDLE, text="", ordered=seen, ready=0, target=1)
    told = await place.calls.ask(decision, TOKEN, PATIENT)
    assert (told.outcome, place.target.asked) == (Applied.CHANGED, [])
    assert "not 3" in told.problem


async def test_one_that_agrees_and_changes_nothing_is_found_out_and_not_hammered(place: Place) -> None:
    place.target.on_resize = lambda _: None
    assert (await place.ask(5)).outcome is Applied.DONE
    place.time.now += 5
    told = await place.ask(5)
    assert (told.outcome, told.problem) == (Applied.WAITING, UNTOLD)
    asked = await place.rounds(5, 900.0)
    assert len(asked) <= 8
    told = await place.ask(5)
    assert "still reports 3" in told.problem or told.problem == UNTOLD
    assert place.calls.take_errors() >= len(asked) - 1


async def test_nor_is_it_when_another_number_is_wanted_each_time(place: Place) -> None:
    place.target.on_resize = lambda _: None
    for more in range(60):
        await place.ask(5 + more)
        place.time.now += 5
    assert len(place.target.asked) <= 6
    assert place.calls.take_errors() >= 3


async def test_one_that_is_slow_to_tell_is_waited_for_as_long_as_it_comes_nearer(place: Place) -> None:
    """A command may count processes that start one after the other."""
    place.target.on_resize = lambda _: None
    await place.ask(9)
    for told in range(4, 10):
        place.time.now += BELIEVED - 5
        place.target.count = told
        assert (await place.ask(9)).outcome is (Applied.KEPT if told == 9 else Applied.WAITING)
    assert place.target.asked == [9]
    assert place.calls.take_errors() == 0


async def test_one_that_tells_anything_is_found_out_and_not_hammered(place: Place) -> None:
    garbage = count(100)
    place.target.on_read = lambda: next(garbage)
    place.target.on_resize = lambda _: None
    decisions = []
    for _ in range(120):
        place.calls.hear(PoolSize(ordered=next(garbage)))
        ordered = next(garbage)
        place.target.on_read = lambda ordered=ordered: ordered
        decision = PoolDecision(
            at=EPOCH, code=ScaleCode.BACKLOG, text="", ordered=ordered, ready=0, target=ordered + 50
        )
        decisions.append(await place.calls.ask(decision, TOKEN, PATIENT))
        place.time.now += 5
    assert len(place.target.asked) <= 9
    assert any("something else sets the count too" in one.problem for one in decisions)


async def test_a_person_who_scales_by_hand_once_is_no_fault_of_the_target(place: Place) -> None:
    await place.ask(5)
    place.target.count = 8
    assert (await place.ask(5)).outcome is Applied.DONE
    assert place.calls.take_errors() == 0


async def test_an_answer_that_takes_long_holds_nothing_up_and_nothing_else_is_asked_meanwhile(
    place: Place,
) -> None:
    answered = asyncio.Event()
    heard = asyncio.Event()

    async def answer(_: int) -> None:
        await answered.wait()
        heard.set()

    place.target.on_resize = answer
    for _ in range(4):
        told = await place.ask(5, patience=0.2)
        assert (told.outcome, told.problem) == (Applied.WAITING, UNANSWERED)
        place.time.now += 5
    assert place.target.asked == [5]
    answered.set()
    place.target.on_resize = None
    await heard.wait()
    await asyncio.sleep(0)
    place.target.count = 5
    assert (await place.ask(5)).outcome is Applied.KEPT
    assert place.calls.take_errors() == 0


async def test_one_that_never_answers_is_let_go_with_the_lead(place: Place) -> None:
    cancelled: list[int] = []

    async def hang(workers: int) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(workers)

    place.target.on_resize = hang
    await place.ask(5, patience=0.2)
    await place.calls.drop()
    assert cancelled == [5]
    place.target.on_resize = None
    assert (await place.ask(6)).outcome is Applied.DONE


@pytest.mark.parametrize(
    ("told", "why"),
    [
        pytest.param({"leader": "other", "term": 2}, "another controller leads", id="another leads"),
        pytest.param({"term": 2}, "another controller leads", id="it led again since"),
        pytest.param({"leader_until": 1}, "another controller leads", id="the lease is over"),
        pytest.param(
            {"scaling": "paused", "steered_at": 9}, "overrides or limits were changed", id="it was paused"
        ),
    ],
)
async def test_without_the_lead_not_even_the_target_is_looked_at(
    place: Place, told: dict[str, Any], why: str
) -> None:
    place.server.command("HSET", KEY, *(str(part) for pair in told.items() for part in pair))
    refused = await place.ask(5)
    assert refused.outcome is Applied.CHANGED
    assert why in refused.problem
    assert (place.target.read_times, place.target.asked) == (0, [])


async def test_a_lead_that_is_lost_between_the_plan_and_the_deed_stops_the_deed(place: Place) -> None:
    read = place.target.read

    async def read_and_lose() -> PoolSize:
        place.server.command("HSET", KEY, "leader", "other", "term", "2")
        return await read()

    place.target.read = read_and_lose  # type: ignore[method-assign] # somebody else's chance
    assert (await place.ask(5)).outcome is Applied.CHANGED
    assert place.target.asked == []


async def test_holding_on_to_a_lead_makes_no_lease_shorter(place: Place) -> None:
    await place.ask(5, token=FencingToken("me", 1, timedelta(hours=1)))
    left = int(place.server.command("HGET", KEY, "leader_until")) - place.server.client.time()[0] * 1000
    assert left > 3_000_000


async def test_what_fails_in_redis_is_not_the_target_s_fault(place: Place) -> None:
    place.server.command("SET", AUDIT, "no stream")
    asked = [await place.ask(5) for _ in range(3)]
    assert {one.outcome for one in asked} == {Applied.FAILED}
    assert (place.target.asked, place.calls.take_errors()) == ([], 0)
    place.server.command("DEL", AUDIT)
    assert (await place.ask(5)).outcome is Applied.DONE
