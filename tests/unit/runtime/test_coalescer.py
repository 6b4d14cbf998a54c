"""Calls that are made together: none of those who ask can end it for the others."""

import asyncio
from collections.abc import Sequence

import pytest

from streamops.runtime.outcomes import Coalescer
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.server import Server
from tests.support.runtime.consumer_streams import stream_of_ann

STREAM = stream_of_ann()


@pytest.mark.parametrize("begun", [False, True])
async def test_cancelled_first_caller_leaves_the_others_their_answers(*, begun: bool) -> None:
    asked, answered = list[Sequence[int]](), asyncio.Event()

    async def ask(_: Server, sub: Subscription, *, retries: bool, rows: Sequence[int]) -> Sequence[int]:
        assert (sub, retries) == (STREAM.subscription, STREAM.retries)
        asked.append(rows)
        await answered.wait()
        return [10 * row for row in rows]

    together = Coalescer[int, int](STREAM.context.server, ask)
    first, second, third = (asyncio.create_task(together.ask(STREAM, row)) for row in (1, 2, 3))
    await asyncio.sleep(0)
    if begun:
        await asyncio.sleep(0)
        assert asked == [[1, 2, 3]]
    first.cancel()
    answered.set()
    assert [await second, await third] == [20, 30]
    assert first.cancelled()
    assert asked == [[1, 2, 3]]
