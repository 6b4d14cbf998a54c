"""Whoever applies a plan may be cancelled at any time."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.operations import engine as engine_module
from streamops.wire.server import Server
from tests.support.operations.engine.counting import CountIntent, Gate, counting, engine
from tests.support.operations.engine.engine import YES
from tests.support.servers import RunningServer


async def test_cancelled_apply_ends_as_cancelled_though_its_last_records_cannot_be_written(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "LAST_WORDS", 0.05)
    gate, connected = Gate(), Server(replace(server.options, timeout=timedelta(seconds=30)))
    try:
        ann = engine(connected)
        prepared = await ann.prepare(counting(gate), CountIntent(upto=30))
        applying = asyncio.create_task(ann.apply(prepared, YES))
        await gate.reached.wait()
        server.command("CLIENT", "PAUSE", 60_000, "WRITE")
        applying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await applying
    finally:
        server.command("CLIENT", "UNPAUSE")
        await connected.close()
