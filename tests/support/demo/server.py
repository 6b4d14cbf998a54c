"""Waiting for the demo server, and asking it."""

from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry


def ask(socket_path: str, *words: str) -> Any:  # noqa: ANN401  # any RESP value
    with redis.Redis(unix_socket_path=socket_path, protocol=2, retry=Retry(NoBackoff(), 0)) as client:
        return client.execute_command(*words)
