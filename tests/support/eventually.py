"""Waiting in a test for what another process or task will do."""

import asyncio
import time
from collections.abc import Callable

SETTLE_SECONDS = 40.0


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fails after forty seconds."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        await asyncio.sleep(0.002)


def wait_until(holds: Callable[[], object], seconds: float = SETTLE_SECONDS) -> None:
    """Wait until something holds, where no loop runs: for another process or thread."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.005)
