"""What a stranger sends to ``webhooks serve`` is answered 4xx, and fills no log."""

import asyncio
import gzip
from pathlib import Path
from typing import Final

import pytest

from tests.support.security.malformed import MALFORMED, encoded, status
from tests.support.security.web import asked
from tests.support.servers import RunningServer
from tests.system.cli.test_topics_serve import TOKEN, served, write

TIMES: Final = 50
MESSAGES: Final = "/topics/remind/messages"
BROKEN: Final = {
    "no gzip": b"this is no gzip",
    "cut off": gzip.compress(b"x" * 500)[:-9],
    "changed": gzip.compress(bytes(range(256)))[:40] + b"\xff" * 40,
}
BOMB: Final = gzip.compress(bytes(64 << 20))


@pytest.mark.parametrize("token", [TOKEN, "another"])
async def test_malformed_requests_and_bodies_are_refused_in_a_line_at_most(
    token: str, server: RunningServer, tmp_path: Path
) -> None:
    header = f"Authorization: Bearer {token}"
    write(tmp_path, server, "http://127.0.0.1:9")
    async with served(tmp_path, "--log-level", "info") as started:
        port = int(started.url.rpartition(":")[2])
        statuses = [status(await asked(port, request)) for request in list(MALFORMED.values()) * 4]
        known = token == TOKEN
        for body in BROKEN.values():
            request = encoded("POST", MESSAGES, "gzip", body, header)
            statuses += [status(await asked(port, request)) - (0 if known else 1) for _ in range(TIMES)]
        assert set(statuses) == {400}
        unknown = status(await asked(port, encoded("POST", MESSAGES, "rot13", b"x", header)))
        large = status(await asked(port, encoded("POST", MESSAGES, "gzip", BOMB, header)))
        assert (unknown, large) == ((415, 413) if known else (401, 401))
        started.process.terminate()
        async with asyncio.timeout(20):
            _, told = await started.process.communicate()
    assert server.command("KEYS", "*topic:remind*:delayed*") == []
    lines = [line for line in told.decode().splitlines() if "refused" in line or "Traceback" in line]
    assert len(lines) == 1
    assert "malformed requests refused: 1, the last:" in lines[0]
    assert len(told.splitlines()) < 5, told.decode()
