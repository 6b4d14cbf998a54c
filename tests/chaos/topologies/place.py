"""A deployment that outlives its primaries, as histories see it."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from streamops.wire.options import ConnectionOptions
from streamops.wire.writes.jobs import job_key
from tests.support.servers import RunningServer

LONGEST = 120.0
"""Seconds after which something that has to come about counts as not coming."""


class Place(Protocol):
    """Servers that take over from each other.

    Attributes:
        url: How the command line reaches them.
        options: How the library does.
        faults: How often each kind of thing was done to them.
    """

    url: str
    options: ConnectionOptions
    faults: dict[str, int]

    @property
    def label(self) -> str:
        """Flavour and version."""

    @property
    def leaders(self) -> frozenset[int]:
        """The ports of those who take writes, as far as it is agreed on."""

    def primary_of(self, key: str) -> RunningServer:
        """The server that takes writes to a key, now that nothing moves."""

    def names(self, *stems: str) -> list[str]:
        """A stream name for each stem, all of them where the next fault strikes."""

    async def replicated(self) -> None:
        """Wait until whoever would take over has all that was written."""


async def until(what: str, holds: Callable[[], object], seconds: float = LONGEST) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"after {seconds:.0f} s: still not {what}"
        await asyncio.sleep(0.03)


def let_go(place: Place, job: str) -> None:
    """End the lease of a job whose process is gone, as thirty seconds would; a server that takes no writes, or dies, lets it be."""
    with suppress(ResponseError, RedisConnectionError):
        place.primary_of(job_key(job)).command("HSET", job_key(job), "lease_ms", 1)


def noted(faults: dict[str, int], kind: str) -> None:
    """Count one more fault of a kind."""
    faults[kind] = faults.get(kind, 0) + 1


def forget(replica: RunningServer) -> None:
    """Have a replica lose its primary, and not find it again before ``remember``: it is refused as a stranger."""
    replica.command("CONFIG", "SET", "masterauth", "wrong")


def remember(replica: RunningServer) -> None:
    """Let a replica log in again."""
    replica.command("CONFIG", "SET", "masterauth", "")


def hang_up_replicas(primary: RunningServer) -> None:
    """Close the connections by which replicas are kept up to date."""
    primary.command("CLIENT", "KILL", "TYPE", "replica")


def role_of(server: RunningServer) -> list[Any]:
    """What a server says that it is; that it is gone, where it hangs up or does not answer.

    Servers hang up on everybody when a Sentinel tells them what they are from now on.
    """
    try:
        role: list[Any] = server.command("ROLE")
    except RedisError:
        return [b"gone"]
    return role


def is_primary(server: RunningServer) -> bool:
    """Whether a server takes writes."""
    return bool(role_of(server)[0] == b"master")


def has_lost_its_primary(replica: RunningServer) -> bool:
    """Whether a replica is one, and gets nothing any more: all that had come is done."""
    role = role_of(replica)
    return bool(role[0] == b"slave" and role[3] != b"connected")


def follows(replica: RunningServer) -> bool:
    """Whether a replica gets what its primary writes."""
    role = role_of(replica)
    return bool(role[0] == b"slave" and role[3] == b"connected")


def is_caught_up(primary: RunningServer, replicas: int) -> bool:
    """Whether so many replicas have all that a primary has."""
    role = role_of(primary)
    return role[0] == b"master" and [int(row[2]) for row in role[2]] == [role[1]] * replicas
