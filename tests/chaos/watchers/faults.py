"""All that goes wrong under watchers: the network, the server, and what operators do."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

from tests.chaos.watchers.breakdowns import (
    be_busy,
    deny,
    evict,
    fail_over,
    flush,
    flush_scripts,
    hang_up,
    load,
    lose_all,
    pause,
    restart,
    run_out_of_memory,
)
from tests.chaos.watchers.network import cut, halve, hole, lose_replies, refuse, slow_down
from tests.chaos.watchers.stage import Stage

RunningOperation = Callable[[Stage, Random], Awaitable[None]]


def meddle(kind: str) -> RunningOperation:
    """An operator does something to a stream or a group, a few times, while everything goes on."""

    async def deed(stage: Stage, random: Random) -> None:
        for _ in range(random.randint(1, 4)):
            await asyncio.to_thread(stage.writer.meddle, kind)
            await asyncio.sleep(random.choice((0.0, 0.05, 0.3)))

    deed.__name__ = kind
    return deed


destroy, remake, rewind, forward, delete, forget = map(
    meddle, ("destroy", "remake", "rewind", "forward", "delete", "forget")
)

GENTLE: Final[tuple[RunningOperation, ...]] = (
    cut,
    hole,
    hole,
    lose_replies,
    halve,
    slow_down,
    refuse,
    restart,
    load,
    pause,
    hang_up,
    flush_scripts,
    run_out_of_memory,
    be_busy,
)
"""What changes nothing of the streams: counters must tell all that was done."""

ROUGH: Final[tuple[RunningOperation, ...]] = (
    lose_all,
    evict,
    flush,
    fail_over,
    deny,
    destroy,
    remake,
    rewind,
    forward,
    delete,
    forget,
)
"""What takes something away, or sets it, or hides it for a while."""


SHORT: Final[tuple[RunningOperation, ...]] = (
    cut,
    halve,
    restart,
    fail_over,
    rewind,
    hole,
    pause,
    deny,
    flush,
    remake,
    lose_replies,
    be_busy,
    run_out_of_memory,
    evict,
    delete,
)
"""Those that strike one version or another whenever tests run."""
