"""A worker whose primary dies, or is demoted: it goes on with the next one."""

import asyncio
import time
from itertools import count

import pytest

from streamops.errors import ServerError
from streamops.runtime import Entry, Streamops
from streamops.runtime.events import Event, Troubled
from streamops.wire.options import ConnectionOptions
from tests.chaos.topologies.place import is_primary
from tests.support.deployments import StartSentinel
from tests.support.eventually import SETTLE_SECONDS, eventually
from tests.support.programs import ServerProgram, find_programs
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.sentinel import behind, has_good_replica

# A Sentinel of Redis 6.2 takes ten seconds to hear of a replica: once is enough.
CASES = [
    (program, how)
    for program in find_programs()
    for how, labels in (("killed", {"redis-6.2", "valkey-9.1"}), ("demoted", {"valkey-9.1"}))
    if program.label in labels
]


class Deployment:
    """A primary, its replica and a Sentinel."""

    def __init__(self, primary: RunningServer, replica: RunningServer, sentinel: RunningServer) -> None:
        self.primary = primary
        self.replica = replica
        self.sentinel = sentinel

    @property
    def options(self) -> ConnectionOptions:
        return behind(self.sentinel.port)

    def is_replicated(self) -> bool:
        """Whether the replica has all that the primary has."""
        offset: int = self.primary.command("ROLE")[1]
        return [int(row[2]) for row in self.primary.command("ROLE")[2]] == [offset]


@pytest.fixture
async def deployment(
    program: ServerProgram, start_server: StartServer, start_sentinel: StartSentinel
) -> Deployment:
    delay = ("--repl-diskless-sync-delay", "0")
    primary = start_server(*delay, program=program)
    replica = start_server(*delay, "--replicaof", "127.0.0.1", str(primary.port), program=program)
    await eventually(lambda: primary.command("ROLE")[2] != [])
    sentinel = start_sentinel(primary)
    sentinel.command("SENTINEL", "SET", "orders", "down-after-milliseconds", 200, "failover-timeout", 1000)
    await eventually(lambda: has_good_replica(sentinel))
    return Deployment(primary, replica, sentinel)


@pytest.mark.parametrize(("program", "how"), CASES, ids=lambda one: getattr(one, "label", one))
async def test_a_worker_goes_on_with_the_next_primary(deployment: Deployment, how: str) -> None:
    app, handled, troubles = Streamops(deployment.options), list[str](), list[Event]()
    app.on(Troubled)(troubles.append)

    @app.handler("orders", group="g", start="0", lease=1, concurrency=4)
    async def handle(entry: Entry) -> None:
        await asyncio.sleep(0.005)
        handled.append((entry.get("n") or b"").decode())

    async def publish(number: int) -> None:
        """Until it is known to be there; handlers may see it twice."""
        while True:
            try:
                await publisher.publish("orders", {"n": number})
            except ServerError:
                await asyncio.sleep(0.05)
            else:
                return

    async with app.publisher() as publisher, working(app):
        for number in range(200):
            await publish(number)
        await until(lambda: len(handled) >= 50)
        await until(deployment.is_replicated)
        if how == "killed":
            deployment.primary.kill()
        else:
            deployment.sentinel.command("SENTINEL", "FAILOVER", "orders")
        started = time.monotonic()
        # It hangs up on whoever asks it just then.
        await until(lambda: is_primary(deployment.replica), SETTLE_SECONDS)
        # What a publisher has confirmed by a demoted server, until it hears of the next one, is thrown away.
        for number in count(200):
            await publish(number)
            if deployment.replica.command("XLEN", "orders") >= 300:
                break
        await until(lambda: {*handled} >= numbers_on(deployment.replica), SETTLE_SECONDS)
        assert time.monotonic() - started < SETTLE_SECONDS
        await until(lambda: is_idle(deployment.replica, "orders"), SETTLE_SECONDS)
    assert all(isinstance(one, Troubled) for one in troubles)


def numbers_on(server: RunningServer) -> set[str]:
    return {fields[1].decode() for _, fields in server.command("XRANGE", "orders", "-", "+")}
