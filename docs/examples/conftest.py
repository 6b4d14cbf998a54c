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
def client(embedded: ConnectionOptions) -> Iterator[redis_py.Redis]:
    """A plain client of the server, as any other program has one."""
    with redis_py.Redis(unix_socket_path=embedded.socket_path) as client:
        yield client


@pytest.fixture
def redis(embedded: ConnectionOptions, client: redis_py.Redis) -> ConnectionOptions:
    """Where the server is; flushed."""
    client.flushall()
    return embedded
