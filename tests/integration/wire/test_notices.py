"""Listening to channels: through lost connections, without permission, until cancelled."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.wire import notices
from tests.support.eventually import eventually
from tests.support.servers import StartServer
from tests.support.wire.notices import HELLO, holds, listening


async def test_silence_is_looked_into(start_server: StartServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers nothing any more, its connections open, is left for another attempt."""
    monkeypatch.setattr(notices, "PAUSE", 0.01)
    monkeypatch.setattr(notices, "QUIET", 0.02)
    server = start_server()
    async with listening(replace(server.options, timeout=timedelta(seconds=0.2))) as heard:
        await eventually(holds(heard, *HELLO))
        # Signs of life are asked for and given; they are no notices.
        await asyncio.sleep(0.1)
        assert heard == [*HELLO]
        server.pause()
        await asyncio.sleep(0.5)
        server.resume()
        await eventually(lambda: heard[-2:] == [*HELLO] and len(heard) > 2)
