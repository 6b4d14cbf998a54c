import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from textual.message import Message

from streamops.errors import Refused, StreamopsError, Unreachable
from streamops.model.entries import StreamEntry
from streamops.tui.polling import poller
from streamops.tui.polling.follower import Follower, RecentEntries, Tailed, TailLost
from streamops.tui.polling.poller import Connected, Observed, Poller, PollFailed
from tests.support.invented import entry_id, seconds
from tests.support.tui import sample
from tests.support.tui.driving import eventually
from tests.support.tui.source import InventedSource

REFUSED = Unreachable("connection refused", "start it")


class Bench:
    """A poller on an invented source, and what it posted."""

    def __init__(self, source: InventedSource, every: timedelta | None = None) -> None:
        self.source = source
        self.posted: list[Message] = []
        self.opens: list[StreamopsError | InventedSource] = [source]
        self.poller = Poller("prod", self._open, self.posted.append, every)

    async def _open(self, name: str) -> Any:  # noqa: ANN401 - in the place of a Console
        assert name == "prod"
        opened = self.opens.pop(0) if len(self.opens) > 1 else self.opens[0]
        if isinstance(opened, StreamopsError):
            raise opened
        return opened

    def of(self, kind: type[Message]) -> list[Message]:
        return [message for message in self.posted if isinstance(message, kind)]

    def observed(self) -> list[Observed]:
        return [message for message in self.posted if isinstance(message, Observed)]

    until = staticmethod(eventually)


@asynccontextmanager
async def polling(bench: Bench) -> AsyncIterator[Bench]:
    task = asyncio.create_task(bench.poller.run())
    try:
        yield bench
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_poller_that_starts_connects_discovers_and_observes() -> None:
    async with polling(Bench(InventedSource(sample.shop()))) as bench:
        await bench.until(lambda: bool(bench.of(Observed)))
        assert [type(message) for message in bench.posted] == [Connected, Observed]
        assert ("discovery",) in bench.source.asked
    assert bench.source.closed


async def test_switched_off_it_polls_on_demand_only() -> None:
    async with polling(Bench(InventedSource(sample.shop()))) as bench:
        await bench.until(lambda: bench.source.polls == 1)
        await asyncio.sleep(0.05)
        assert bench.source.polls == 1
        bench.poller.poll_now()
        await bench.until(lambda: bench.source.polls == 2)


async def test_poller_that_is_left_alone_polls_at_its_interval() -> None:
    async with polling(Bench(InventedSource(sample.shop()), every=timedelta(milliseconds=10))) as bench:
        await bench.until(lambda: bench.source.polls > 3)


async def test_the_first_streams_do_not_wait_for_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poller, "SOON", timedelta(0))
    source = InventedSource(sample.observation(complete=False))
    async with polling(Bench(source, every=timedelta(hours=1))) as bench:
        await bench.until(lambda: source.polls > 1)
        source.observation = sample.shop()
        await bench.until(
            lambda: any(message.observation is source.observation for message in bench.observed())
        )
        polls = source.polls
        for _ in range(100):
            await asyncio.sleep(0)
        assert source.polls == polls


async def test_a_loss_is_told_with_its_retry_and_ends_by_itself() -> None:
    async with polling(Bench(InventedSource(sample.shop()))) as bench:
        await bench.until(lambda: bool(bench.of(Observed)))
        bench.source.observation = REFUSED
        bench.poller.poll_now()
        await bench.until(lambda: bool(bench.of(PollFailed)))
        lost = bench.of(PollFailed)[0]
        assert isinstance(lost, PollFailed)
        assert (lost.loss.message, lost.loss.hint) == ("connection refused", "start it")
        assert lost.loss.retry_at is not None
        bench.source.observation = sample.shop()
        bench.poller.poll_now()
        await bench.until(lambda: len(bench.of(Observed)) == 2)
        assert not bench.source.closed


async def test_the_first_connection_is_tried_again_too() -> None:
    bench = Bench(InventedSource(sample.shop()))
    bench.opens = [Refused("wrong password"), bench.source]
    async with polling(bench):
        await bench.until(lambda: bool(bench.of(PollFailed)))
        bench.poller.poll_now()
        await bench.until(lambda: bool(bench.of(Observed)))


async def test_the_pace_follows_choice_and_focus() -> None:
    bench = Bench(InventedSource(sample.shop()), every=timedelta(seconds=2))
    assert bench.poller.pace.interval == timedelta(seconds=2)
    assert bench.poller.focus(focused=False).interval == timedelta(seconds=10)
    assert bench.poller.choose(timedelta(seconds=30)).interval == timedelta(seconds=30)
    assert bench.poller.focus(focused=True).chosen == timedelta(seconds=30)


async def test_a_slow_poll_stretches_the_interval() -> None:
    source = InventedSource(sample.shop())
    source.before_answer = lambda: _busy(0.02)
    async with polling(Bench(source, every=timedelta(milliseconds=40))) as bench:
        await bench.until(lambda: bool(bench.of(Observed)))
        observed = bench.of(Observed)[0]
        assert isinstance(observed, Observed)
        assert observed.pace.interval is not None
        assert observed.pace.interval >= timedelta(milliseconds=80)
        assert observed.pace.reason.startswith("stretched: a poll takes ")


def _busy(duration: float) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + duration
    while loop.time() < end:
        pass


async def test_an_unforeseen_failure_is_not_swallowed() -> None:
    source = InventedSource(sample.shop())

    def fail() -> None:
        raise ZeroDivisionError

    source.before_answer = fail
    with pytest.raises(ZeroDivisionError):
        await Bench(source).poller.run()
    assert source.closed


def entry(number: int, size: int = 1) -> StreamEntry:
    return StreamEntry(entry_id(seconds(1000 - number)), ((b"n", b"x" * size),))


async def test_a_tail_delivers_batches_in_order() -> None:
    source: Any = InventedSource(sample.shop())
    posted: list[Message] = []
    task = asyncio.create_task(Follower(source, "orders", None, posted.append).run())
    for number in range(100):
        source.arriving.put_nowait(entry(number))
    await eventually(
        lambda: sum(len(message.entries) for message in posted if isinstance(message, Tailed)) == 100
    )
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert len(posted) < 5
    arrived = [found for message in posted if isinstance(message, Tailed) for found in message.entries]
    assert arrived == [entry(number) for number in range(100)]


async def test_a_broken_tail_goes_on_after_the_last_entry() -> None:
    source: Any = InventedSource(sample.shop())
    posted: list[Message] = []
    task = asyncio.create_task(Follower(source, "orders", None, posted.append).run())
    source.arriving.put_nowait(entry(1))
    source.arriving.put_nowait(REFUSED)
    source.arriving.put_nowait(entry(2))
    await eventually(lambda: sum(isinstance(message, Tailed) for message in posted) == 2)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert sum(isinstance(message, TailLost) for message in posted) == 1
    assert [asked for asked in source.asked if asked[0] == "tail"] == [
        ("tail", "orders", None),
        ("tail", "orders", entry(1).id),
    ]


def test_kept_entries_are_bounded_in_number() -> None:
    kept = RecentEntries(most=3)
    kept.add(entry(number) for number in range(5))
    assert kept.entries() == (entry(2), entry(3), entry(4))
    assert kept.left == 2
    assert kept.full


def test_kept_entries_are_bounded_in_bytes_but_one_stays() -> None:
    kept = RecentEntries(most_bytes=100)
    kept.add([entry(0, 40), entry(1, 70), entry(2, 5_000)])
    assert kept.entries() == (entry(2, 5_000),)
    assert kept.left == 2


def test_older_entries_join_at_the_front_while_there_is_room() -> None:
    kept = RecentEntries(most=4)
    kept.add([entry(8), entry(9)])
    kept.add_older([entry(7), entry(6), entry(5)])
    assert kept.entries() == (entry(6), entry(7), entry(8), entry(9))
    assert kept.take() == ((entry(6), entry(7), entry(8), entry(9)), 0)
    assert len(kept) == 0
