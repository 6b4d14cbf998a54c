"""What an application may leave behind in Redis, once its workers have ended and nothing is left to do."""

import re

from tests.support.servers import RunningServer

KEPT = re.compile(r"\{.+\}:(dlq|retry:.+|payload:.+|done:.+)|streamops:(audit|topics)|[^{}]+")
"""Streams, their dead letters, retry streams (empty), payloads and guards (until their time is over)."""


def assert_tidy(server: RunningServer) -> None:
    """Fail where a key is left that nothing names, or where something waits that nobody will ever look for."""
    for raw_key in server.command("KEYS", "*"):
        key = raw_key.decode()
        assert KEPT.fullmatch(key), f"{key} was left behind"
        assert not key.startswith("streamops:worker:"), f"{key} still beats"
        if ":retry:" in key:
            assert server.command("XLEN", key) == 0, f"{key} is not empty"
        if ":payload:" in key or ":done:" in key:
            assert server.command("PTTL", key) > 0, f"{key} stays for ever"
