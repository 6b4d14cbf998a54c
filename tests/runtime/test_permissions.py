"""What ``doctor --acl runtime`` prints is enough for a worker that does everything; with less it does not begin."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.errors import ExitCode, Refused
from streamops.model.ids import EPOCH
from streamops.model.pools import PoolSupervisor, RosterWorker
from streamops.model.workers import WorkerState
from streamops.present.acl import AclRole, acl_rules
from streamops.wire.options import ConnectionOptions, Secret
from streamops.wire.pools.records import list_pool
from streamops.wire.pools.roster import clock_in, clock_out, leave_duty, read_roster, report_for_duty
from streamops.wire.server import Server
from tests.conftest import PROGRAMS
from tests.operate.acting.test_acl import used_commands
from tests.programs import ServerProgram
from tests.runtime.everything import LETTERS, LOST, STREAM, WORDS, application, fill, play
from tests.runtime.working import keys, working
from tests.servers import RunningServer, ServerPool

USER, PASSWORD = "shop", Secret("right")
NARROW = ("~orders*", "~{orders}*", "~streamops:*")
OPTIONAL = {"publish", "subscribe", "multi", "exec"}
PRODUCERS = {"ping", "evalsha", "zmscore", "unlink", "hgetall", "hscan"}
CONNECTION = {"client|setname"}
"""Asked for by whoever connects; refused, it connects all the same or says so."""


def rules_of(program: ServerProgram) -> list[str]:
    rules = acl_rules(AclRole.RUNTIME)
    return (rules.rules_6_2 if program.version < (7,) else rules.rules).split()


class Users:
    """Users of one server."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self.commands = [word[1:] for word in rules_of(server.program) if word.startswith("+")]

    def limited(self, *changes: str, keys: tuple[str, ...] = ("~*",)) -> ConnectionOptions:
        """A user with the printed rules, changed."""
        words = [word for word in rules_of(self._server.program) if word != "~*"]
        self._server.command(
            "ACL", "SETUSER", USER, "reset", "on", f">{PASSWORD.reveal()}", *keys, *words, *changes
        )
        return replace(self._server.options, username=USER, password=PASSWORD)

    def without(self, command: str) -> ConnectionOptions:
        """One who lacks a command. Redis 6.2 cannot take a subcommand away: its command goes, and its others stay."""
        if self._server.program.version >= (7,) or "|" not in command:
            return self.limited(f"-{command}")
        family = command.partition("|")[0]
        siblings = [one for one in self.commands if one.startswith(f"{family}|") and one != command]
        return self.limited(f"-{family}", *(f"+{one}" for one in siblings))


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.label)
def server(request: pytest.FixtureRequest, server_pool: ServerPool) -> RunningServer:
    """Of every version: each has categories and key rules of its own."""
    return server_pool.flushed(request.param)


@pytest.fixture
def users(server: RunningServer) -> Iterator[Users]:
    yield Users(server)
    server.command("ACL", "DELUSER", USER)


async def refusal(options: ConnectionOptions) -> Refused:
    app, handled = application(options)
    with pytest.raises(Refused) as caught:
        async with working(app):
            pass
    assert handled == []
    return caught.value


@pytest.mark.parametrize("patterns", [("~*",), NARROW], ids=["all", "narrow"])
async def test_the_printed_rules_are_enough(
    server: RunningServer, users: Users, patterns: tuple[str, ...]
) -> None:
    fill(server)
    server.command("CONFIG", "RESETSTAT")
    handled = await play(server, users.limited(keys=patterns))
    assert set(handled) == {*WORDS, "after"}
    assert len(handled) == len(WORDS) + 1
    assert server.command("XLEN", LETTERS) == LOST
    if server.program.version >= (7,):
        # And none of them is there in vain.
        assert {*users.commands} - PRODUCERS - CONNECTION <= used_commands(server) | {"ping"}


@pytest.mark.parametrize("patterns", [("~*",), NARROW], ids=["all", "narrow"])
async def test_they_are_enough_to_staff_a_pool(
    server: RunningServer, users: Users, patterns: tuple[str, ...]
) -> None:
    """What supervisors and the roster of their workers need, which no worker is refused for."""
    theirs = Server(users.limited(keys=patterns))
    supervisor = PoolSupervisor(id="s", at=EPOCH, host="desk", pid=1, aim=1, alive=1, ready=1)
    worker = RosterWorker(id="w", at=EPOCH, slots=4, busy=1, worked=0.5, state=WorkerState.RUNNING)
    server.command("HSET", "streamops:pool:shop", "desired", "3", "mode", "paused")
    # Those that fell silent are dropped, which takes commands of its own.
    server.command("HSET", "streamops:supervisors:shop", "old", "1 {}")
    server.command("HSET", "streamops:roster:shop", "old", "1 4 4 0.0 running")
    try:
        await list_pool(theirs, "shop", "supervisors")
        shift = await report_for_duty(theirs, "shop", supervisor)
        assert (shift.desired, [one.id for one in shift.supervisors]) == (3, ["s"])
        assert await clock_in(theirs, "shop", worker) == "paused"
        until_dropped = 0
        while server.command("HEXISTS", "streamops:roster:shop", "old"):
            await clock_in(theirs, "shop", worker)
            until_dropped += 1
            assert until_dropped < 1_000
        assert [one.id for one in await read_roster(theirs, "shop")] == ["w"]
        await clock_out(theirs, "shop", "w")
        await leave_duty(theirs, "shop", "s")
    finally:
        await theirs.close()
    assert keys(server) == {"streamops:pool:shop", "streamops:pools"}


async def test_whoever_lacks_one_command_is_refused_before_anything_is_consumed(
    server: RunningServer, users: Users
) -> None:
    needed = [one for one in users.commands if one not in OPTIONAL | PRODUCERS | CONNECTION]
    server.command("XADD", STREAM, "*", "n", "1")
    for command in needed:
        error = await refusal(users.without(command))
        assert error.exit_code is ExitCode.REFUSED
        assert "no permission for" in error.message
        assert command.upper().replace("|", " ") in error.message
        assert "\n" not in error.message
        assert keys(server) == {STREAM}, f"without {command}"


@pytest.mark.parametrize("command", sorted(OPTIONAL - {"exec", "multi"}))
async def test_what_is_optional_may_be_missing(any_server: RunningServer, command: str) -> None:
    fill(any_server)
    assert set(await play(any_server, Users(any_server).without(command))) == {*WORDS, "after"}


async def test_whoever_may_use_no_channel_works_all_the_same(server: RunningServer, users: Users) -> None:
    fill(server)
    assert set(await play(server, users.limited("resetchannels"))) == {*WORDS, "after"}


@pytest.mark.parametrize(
    ("patterns", "missing"),
    [
        (("~{orders}*", "~streamops:*"), "key orders"),
        (("~orders*", "~streamops:*"), "key {orders}:retry:g, key {orders}:dlq"),
        (("~orders*", "~{orders}:[rda]*", "~streamops:*"), "{orders}:payload:"),
        (("~orders*", "~{orders}*"), "key streamops:worker:"),
    ],
)
async def test_whoever_lacks_keys_is_refused(
    server: RunningServer, users: Users, patterns: tuple[str, ...], missing: str
) -> None:
    server.command("XADD", STREAM, "*", "n", "1")
    error = await refusal(users.limited(keys=patterns))
    assert missing in error.message
    assert keys(server) == {STREAM}


APP = """
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("orders", group="g", start="0")
def handle(entry: Entry) -> None:
    raise SystemExit("consumed")
"""


def test_run_says_so_in_one_line_and_ends(any_server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(APP)
    any_server.command("XADD", STREAM, "*", "n", "1")
    Users(any_server).without("xack")
    url = any_server.url.replace("redis://", f"redis://{USER}:{PASSWORD.reveal()}@")
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "streamops", "--url", url, "run", "shop:app", "--workers", "2"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == ExitCode.REFUSED
    assert ran.stdout == ""
    told = [line for line in ran.stderr.splitlines() if "may not do" in line]
    assert len(told) == 1
    assert "user 'shop' may not do what a worker has to: no permission for XACK" in told[0]
    assert "doctor --acl runtime" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert keys(any_server) == {STREAM}
    any_server.command("ACL", "DELUSER", USER)
