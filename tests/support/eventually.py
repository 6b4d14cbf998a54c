"""Waiting in a test for what another process or task will do."""

import asyncio
import time
from collections.abc import Callable

SETTLE_SECONDS = 40.0


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fails after twenty seconds."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        await asyncio.sleep(0.002)
