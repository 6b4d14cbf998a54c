"""What the examples take for granted: a server, empty whenever a test begins."""

from collections.abc import Iterator

import pytest
import redis as redis_py

from streamops.testing import embedded_redis
from streamops.wire.options import ConnectionOptions


@pytest.fixture(scope="session")
def embedded() -> Iterator[ConnectionOptions]:
    """One server for all examples."""
    with embedded_redis() as connection:
        yield connection


@pytest.fixture
def redis(embedded: ConnectionOptions) -> ConnectionOptions:
    """The server, flushed."""
    with redis_py.Redis(unix_socket_path=embedded.socket_path) as client:
        client.flushall()
    return embedded
