"""What ``doctor --acl operator`` prints is enough for every operation, and whoever has less is refused in time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamops.errors import ExitCode, StreamopsError
from streamops.model.acting import Assent, Outcome, Plan
from streamops.model.acts.delayed import RunDelayedIntent
from streamops.model.ids import EntryId
from streamops.operate.console import Console
from streamops.present.acl import AclRole
from tests.support.operate.acting.acl import NARROW, USER, as_role, used_commands
from tests.support.operate.acting.examples import BODIES, EXAMPLES, STREAM, WORKSHOP, Example, Scene, fill
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")

RECORDS = {b"streamops:audit"}


def state_of(server: RunningServer) -> dict[bytes, bytes]:
    """Every key with its content, besides the audit log."""
    keys: list[bytes] = server.command("KEYS", "*")
    return {key: server.command("DUMP", key) for key in keys if key not in RECORDS}


class Stage:
    """Plays examples on one server, each from the same beginning."""

    def __init__(self, server: RunningServer, directory: Path) -> None:
        self.server = server
        self.directory = directory
        self.before: dict[bytes, bytes] = {}

    async def play(self, example: Example, *changes: str, keys: tuple[str, ...] = ()) -> tuple[Plan, Outcome]:
        """Play an example as an operator with changed rules."""
        self.server.flush()
        for file in self.directory.iterdir():
            file.unlink()
        fill(self.server.command)
        async with await Console.open(self.server.options, actor=WORKSHOP) as console:
            intent = await example.ready(Scene(console, self.directory))
        self.before = state_of(self.server)
        options = as_role(self.server, AclRole.OPERATOR, *changes, keys=keys)
        self.server.command("CONFIG", "RESETSTAT")
        async with await Console.open(options, actor=WORKSHOP) as console:
            prepared = await console.prepare(intent)
            assent = Assent(yes=True, typed=prepared.consent.word)
            return prepared.plan, await console.apply(prepared, assent)

    async def refusal_of(self, example: Example, change: str) -> StreamopsError | None:
        """The error that playing it ends with; none where it ends well."""
        try:
            assert_done(*await self.play(example, change))
        except StreamopsError as error:
            return error
        return None


@pytest.fixture
def stage(server: RunningServer, tmp_path: Path) -> Iterator[Stage]:
    yield Stage(server, tmp_path)
    server.command("ACL", "DELUSER", USER)


def assert_done(plan: Plan, outcome: Outcome) -> None:
    assert plan.count > 0
    assert (outcome.applied, outcome.complete, outcome.failed) == (plan.count, True, ())


@pytest.mark.parametrize("name", EXAMPLES)
async def test_the_printed_rules_are_enough(stage: Stage, name: str) -> None:
    assert_done(*await stage.play(EXAMPLES[name]))
    assert_done(*await stage.play(EXAMPLES[name], keys=NARROW))


@pytest.mark.parametrize("name", EXAMPLES)
async def test_whoever_has_less_is_refused_in_time(stage: Stage, name: str) -> None:
    """Without any one of the commands that it takes, an operation does all the same, or nothing."""
    example = EXAMPLES[name]
    assert_done(*await stage.play(example))
    for command in sorted(used_commands(stage.server)):
        refusal = await stage.refusal_of(example, f"-{command}")
        if refusal is not None:
            assert refusal.exit_code is ExitCode.REFUSED, f"without {command}: {refusal!r}"
            assert state_of(stage.server) == stage.before, f"without {command}"


@pytest.mark.parametrize("role", [AclRole.OBSERVER, AclRole.OPERATOR])
async def test_everything_can_be_read(server: RunningServer, stage: Stage, role: AclRole) -> None:
    await stage.play(EXAMPLES["replay for all"])
    fill_again = RunDelayedIntent(stream=STREAM, ids=("due",))
    async with await Console.open(as_role(server, role), actor=WORKSHOP) as console:
        await console.discover()
        snapshot = await console.collect()
        assert (snapshot.gaps, len(snapshot.streams)) == ((), 3)
        assert (await console.delayed.queues(console.discovery.names)).gaps == ()
        server.command("HSET", BODIES, "stray", "x")
        page = await console.delayed.page(STREAM, 10)
        assert [one.id for one in (*page.messages, *page.strays)] == ["due", "later", "stray"]
        assert (await console.prepare(fill_again)).plan.count == 1
        (job,) = await console.read_jobs()
        assert job.operation == "replay"
        (action,) = (await console.read_actions()).actions
        assert len(await console.read_action(EntryId.parse(action.first.id))) >= 2


@pytest.mark.parametrize("role", [AclRole.OBSERVER, AclRole.OPERATOR])
async def test_pools_can_be_read(server: RunningServer, stage: Stage, role: AclRole) -> None:
    await stage.play(EXAMPLES["scale for the first time"])
    server.command("HSET", "streamops:pools", "p", "supervisors")
    async with await Console.open(as_role(server, role), actor=WORKSHOP) as console:
        (pool,) = await console.pools.all()
        assert (pool.name, pool.order and pool.order.workers) == ("p", 3)
        assert await console.pools.clock() is not None
        assert await console.pools.decisions("p") == []
        assert [one.id for one in (await console.pools.staff("p")).supervisors] == ["s"]
        assert (await console.pools.size("p")).ordered == 3
        with_pools = await console.workers.with_pools()
        assert [one.name for one in with_pools.pools] == ["p"]
