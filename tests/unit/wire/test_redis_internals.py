"""What streamops relies on of redis-py beyond its public names: a new release is looked at before it is taken."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest
from redis._parsers import _AsyncHiredisParser, _AsyncRESP2Parser
from redis.asyncio.connection import (
    Connection,
    ConnectionPool,
    SSLConnection,
    UnixDomainSocketConnection,
)

import streamops
from streamops.wire import redis_internals

HOLDS_FOR = ("8.1",)
"""Releases of redis-py that ``redis_internals`` was read against and run with."""

WIRE = Path(streamops.__file__).parent / "wire"
PRIVATE = re.compile(r"noqa:.*SLF001|from redis\._|import redis\._")


def test_redis_py_is_of_a_release_that_the_private_names_hold_for() -> None:
    installed = version("redis")
    assert installed.rpartition(".")[0] in HOLDS_FOR, f"read redis_internals against redis-py {installed}"


@pytest.mark.parametrize(
    ("thing", "names"),
    [
        (Connection(), ("_writer", "_reader", "_parser", "_connect", "_connection_arguments")),
        (SSLConnection(), ("_connection_arguments",)),
        (UnixDomainSocketConnection(), ("_connect", "socket_connect_timeout", "path")),
        (ConnectionPool(), ("_available_connections", "_in_use_connections", "ensure_connection")),
        (_AsyncRESP2Parser(1), ("_read", "_readline", "read_response")),
    ],
    ids=lambda part: type(part).__name__ if not isinstance(part, tuple) else "",
)
def test_a_thing_of_redis_py_has_the_names_that_are_used(thing: object, names: tuple[str, ...]) -> None:
    assert [name for name in names if not hasattr(thing, name)] == []


def test_the_hiredis_parser_has_the_names_that_are_used() -> None:
    pytest.importorskip("hiredis")
    parser = _AsyncHiredisParser(1)
    assert [
        name for name in ("_stream", "_reader", "_read_size", "read_from_socket") if not hasattr(parser, name)
    ] == []


def test_no_other_module_uses_private_names_of_redis_py() -> None:
    own = Path(redis_internals.__file__)
    users = [path.name for path in WIRE.rglob("*.py") if PRIVATE.search(path.read_text()) and path != own]
    assert users == []
