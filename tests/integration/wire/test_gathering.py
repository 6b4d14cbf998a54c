"""Commands of many callers sent together: nobody disturbs anybody, and everybody has their own answer."""

import asyncio

import pytest

from streamops.wire import gathering
from streamops.wire.batches import Request
from streamops.wire.gathering import Gatherer
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.gathering import echo


@pytest.fixture
def gatherer(connected: Server) -> Gatherer:
    return Gatherer(connected)


async def test_everybody_has_their_own_answer(gatherer: Gatherer) -> None:
    async def ask(number: int) -> None:
        for turn in range(20):
            word = f"{number}-{turn}"
            assert await gatherer.send(echo(word)) == word

    await asyncio.gather(*(ask(number) for number in range(50)))
    assert not any(lane.busy or lane.waiting or lane.bytes for lane in gatherer._lanes.values())
    await gatherer.close()


async def test_callers_of_the_same_time_share_pipelines(gatherer: Gatherer, server: RunningServer) -> None:
    calls = [gatherer.send(Request("k", ("INCR", "k"))) for _ in range(1_000)]
    assert sorted(await asyncio.gather(*calls)) == list(range(1, 1_001))
    clients = server.command("CLIENT", "LIST", "TYPE", "NORMAL").decode()
    assert sum("name=streamops " in line for line in clients.splitlines()) == 1


async def test_errors_go_to_whom_they_belong(gatherer: Gatherer) -> None:
    calls = [gatherer.send(echo("a")), gatherer.send(Request("k", ("XLEN",), int)), gatherer.send(echo("b"))]
    first, wrong, last = await asyncio.gather(*calls)
    assert (first, last) == ("a", "b")
    assert isinstance(wrong, Exception)


async def test_what_cannot_be_sent_or_decoded_fails_alone(gatherer: Gatherer) -> None:
    def refuse(_: object) -> None:
        raise ValueError("not what was expected")

    calls = [
        gatherer.send(echo("a")),
        gatherer.send(Request("k", ("ECHO", "\ud800"))),
        gatherer.send(Request("k", ("ECHO", "x"), refuse)),
        gatherer.send(echo("b")),
    ]
    first, unsendable, undecodable, last = await asyncio.gather(*calls, return_exceptions=True)
    assert (first, last) == ("a", "b")
    assert isinstance(unsendable, UnicodeEncodeError)
    assert isinstance(undecodable, ValueError)


async def test_cancelled_callers_disturb_nobody(gatherer: Gatherer) -> None:
    """Whether they were sent alone, wait, or are under way."""
    for turns in range(30):
        calls = [asyncio.create_task(gatherer.send(echo(str(number)))) for number in range(6)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for number in (0, 3):
            calls[number].cancel()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert [answers[number] for number in (1, 2, 4, 5)] == ["1", "2", "4", "5"]
        assert all(answers[n] == str(n) or isinstance(answers[n], asyncio.CancelledError) for n in (0, 3))
    await gatherer.close()


async def test_a_full_queue_makes_callers_wait(gatherer: Gatherer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_WAITING", 3)
    calls = [asyncio.create_task(gatherer.send(echo(str(number)))) for number in range(40)]
    await asyncio.sleep(0)
    assert max(len(lane.waiting) for lane in gatherer._lanes.values()) <= 3
    assert await asyncio.gather(*calls) == [str(number) for number in range(40)]


async def test_large_commands_go_out_in_several_pipelines(
    gatherer: Gatherer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "MOST_BYTES", 1_000)
    monkeypatch.setattr(gathering, "MOST_WAITING_BYTES", 2_000)
    words = [str(number) * size for number in range(10) for size in (1, 700)]
    assert await asyncio.gather(*(gatherer.send(echo(word)) for word in words)) == words


async def test_the_end_of_the_event_loop_leaves_nobody_waiting(gatherer: Gatherer) -> None:
    """Its tasks are cancelled before they began, and at every moment after that."""
    for turns in range(12):

        async def ask_and_end(turns: int = turns) -> str:
            answer: str = await gatherer.send(echo("first"))
            for _ in range(turns):
                await asyncio.sleep(0)
            for task in gatherer._tasks:
                task.cancel()
            return answer

        calls = [ask_and_end(), gatherer.send(echo("second")), gatherer.send(echo("third"))]
        async with asyncio.timeout(5):
            answers = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(answer, (str, asyncio.CancelledError)) for answer in answers)


async def test_an_error_that_nobody_expects_reaches_all_who_were_sent(
    gatherer: Gatherer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(gatherer._server, "batch", fail)
        calls = [gatherer.send(echo(word)) for word in "abc"]
        async with asyncio.timeout(5):
            first, *others = await asyncio.gather(*calls, return_exceptions=True)
    assert first == "a"
    assert [str(other) for other in others] == ["a bug"] * 2
    assert await gatherer.send(echo("again")) == "again"
    await gatherer.close()
