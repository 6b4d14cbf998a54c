"""No command is repeated behind our back: an XADD whose reply is lost is sent once."""

import asyncio
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError as LostConnection

from streamops.wire.connect import connect_client
from streamops.wire.options import ConnectionOptions


async def test_a_command_whose_reply_is_lost_is_sent_once(tmp_path: Path) -> None:
    seen = 0

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        while line := await reader.read(65_536):
            if b"XADD" in line:
                seen += 1
                break
            writer.write(b"+OK\r\n")
        writer.close()

    path = str(tmp_path / "socket")
    options = ConnectionOptions(addresses=(), socket_path=path, label="fake")
    async with await asyncio.start_unix_server(speak, path), connect_client(options) as client:
        with pytest.raises(LostConnection):
            await client.xadd("orders", {"n": 1})
    assert seen == 1
