"""A full pass by each way to a server: status, claim, replay, and a worker that does the work."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

import pytest

from streamops.errors import Refused, Unreachable
from streamops.model.acting import Confirmation
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent
from streamops.runtime import Entry, Streamops
from streamops.wire.options import ConnectionOptions
from tests.chaos.topologies.operators import Typist, ill_said
from tests.chaos.topologies.ways_in import PASSWORD, Way, by_socket, by_tls
from tests.chaos.topologies.works import add_many, numbers
from tests.support.deployments import Certificates
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.programs import ServerProgram
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer

STREAM, QUEUE, GROUP = "orders", "{orders}:dlq", "billing"
PENDING, LETTERS = 20, 30

Road = Callable[[ServerProgram, Certificates], AbstractAsyncContextManager[Way]]


@pytest.fixture(params=[by_socket, by_tls], ids=lambda road: road.__name__)
async def way(
    request: pytest.FixtureRequest, program: ServerProgram, certificates: Certificates
) -> AsyncIterator[Way]:
    road: Road = request.param
    async with road(program, certificates) as way:
        yield way


@pytest.mark.every_server("histories are played on each version")
async def test_operators_and_workers_do_everything_by_each_way_in(way: Way) -> None:
    prepare(way.server)
    await look_and_act(way.operator)
    assert way.server.command("XLEN", QUEUE) == 0
    assert [row[0] for row in way.server.command("XPENDING", STREAM, GROUP)[3]] == [b"rescuer"]
    await work_off(way)


async def test_a_command_line_that_names_certificates(
    server: RunningServer, certificates: Certificates
) -> None:
    """And one that names none: two lines, and no secret in them."""
    async with by_tls(server.program, certificates) as way:
        prepare(way.server)
        port = way.operator.addresses[0][1]
        address = f"rediss://operator:{PASSWORD}@localhost:{port}/0?ca={certificates.ca_file}"
        complete = f"{address}&cert={certificates.client_certificate_file}&key={certificates.client_key_file}"
        said = await Typist(complete).say("status", "-o", "json")
        assert said.code == 0, said.err
        assert {row["stream"]: row["length"] for row in said.document["streams"]} == {
            STREAM: PENDING,
            QUEUE: LETTERS,
        }
        for url, code in ((address, 3), (complete.replace(PASSWORD, "wr0ng"), 4)):
            refused = await Typist(url).say("status")
            assert (refused.code, ill_said(refused), "wr0ng" in refused.err) == (code, "", False)


async def test_nobody_comes_in_without_what_the_way_asks_for(
    server: RunningServer, certificates: Certificates
) -> None:
    """Neither as the user that everybody is, nor without TLS."""
    async with by_tls(server.program, certificates) as way:
        bare = ConnectionOptions(addresses=way.operator.addresses, tls=certificates.client_tls, label="bare")
        with pytest.raises(Refused, match="wants a password"):
            await Console.open(bare)
        plain = ConnectionOptions(
            addresses=way.operator.addresses, label="plain", timeout=timedelta(seconds=1)
        )
        with pytest.raises(Unreachable):
            await Console.open(plain)


def prepare(server: RunningServer) -> None:
    """Entries that a dead consumer has, and letters."""
    add_many(server, STREAM, PENDING)
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0")
    server.command("XREADGROUP", "GROUP", GROUP, "dead", "STREAMS", STREAM, ">")
    add_many(server, QUEUE, LETTERS, ("_so_origin", STREAM, "_so_group", GROUP))


async def look_and_act(options: ConnectionOptions) -> None:
    """Status, claim, replay."""
    async with await Console.open(options, actor=WORKSHOP) as console:
        await console.discover()
        seen = {stream.name: stream for stream in (await console.collect()).streams}
        assert (seen[STREAM].length, seen[QUEUE].length) == (PENDING, LETTERS)
        assert [group.pending for group in seen[STREAM].groups] == [PENDING]
        claim = ClaimIntent(stream=STREAM, group=GROUP, to="rescuer", min_idle=timedelta(0))
        for intent, count in ((claim, PENDING), (ReplayIntent(queue=QUEUE), LETTERS)):
            prepared = await console.prepare(intent)
            outcome = await console.apply(prepared, Confirmation(yes=True))
            assert (prepared.plan.count, outcome.applied, outcome.complete) == (count, count, True)
        assert len((await console.read_actions()).actions) == 2


async def work_off(way: Way) -> None:
    """A worker does what is unread, and what is pending once nobody has asked for it for its lease."""
    done: list[str] = []
    app = Streamops(way.worker, name="ways-in")

    @app.handler(STREAM, group=GROUP, start="0", lease=1)
    async def handle(entry: Entry) -> None:
        done.append((entry.get("n") or b"").decode())

    async with working(app):
        await until(lambda: is_idle(way.server, STREAM, GROUP))
    assert sorted(done) == sorted([*numbers(PENDING), *numbers(LETTERS)])
