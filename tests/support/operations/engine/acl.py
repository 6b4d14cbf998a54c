"""Operators with the printed rules, and with less."""

from pathlib import Path

from msgspec.structs import replace

from streamops.errors import ExitCode, StreamopsError
from streamops.model.acting import Confirmation, Outcome, Plan
from streamops.operations.console import Console
from streamops.resources.acl import AclRole, acl_rules
from streamops.wire.options import ConnectionOptions, Secret
from tests.support.operations.engine.examples import (
    EXAMPLES,
    WORKSHOP,
    Example,
    Scene,
    add_shop_with_letters_and_queue,
)
from tests.support.servers import RunningServer

USER, PASSWORD = "streamops-operator", Secret("right")
NARROW = ("~payments*", "~{payments}*", "~streamops:*")
NOT_RULED = {"auth", "hello", "ping", "client", "acl", "config", "keys", "dump", "flushall", "reset"}


def as_role(
    server: RunningServer, role: AclRole, *changes: str, keys: tuple[str, ...] = ()
) -> ConnectionOptions:
    """A user with the printed rules, their keys narrowed and then changed."""
    rules = acl_rules(role)
    words = (rules.rules_6_2 if server.program.version < (7,) else rules.rules).split()
    commands = [word for word in words if not (keys and word == "~*")]
    server.command("ACL", "SETUSER", USER, "reset", "on", f">{PASSWORD.reveal()}", *keys, *commands, *changes)
    return replace(server.options, username=USER, password=PASSWORD)


def used_commands(server: RunningServer) -> set[str]:
    """Commands that were called since RESETSTAT, those of scripts too, as ACL rules name them."""
    names = {name.removeprefix("cmdstat_") for name in server.client.info("commandstats")}
    return {name for name in names if name.partition("|")[0] not in NOT_RULED}


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
        add_shop_with_letters_and_queue(self.server.command)
        async with await Console.open(self.server.options, actor=WORKSHOP) as console:
            intent = await example.ready(Scene(console, self.directory))
        self.before = state_of(self.server)
        options = as_role(self.server, AclRole.OPERATOR, *changes, keys=keys)
        self.server.command("CONFIG", "RESETSTAT")
        async with await Console.open(options, actor=WORKSHOP) as console:
            prepared = await console.prepare(intent)
            confirmation = Confirmation(yes=True, typed=prepared.policy.word)
            return prepared.plan, await console.apply(prepared, confirmation)

    async def refusal_of(self, example: Example, change: str) -> StreamopsError | None:
        """The error that playing it ends with; none where it ends well."""
        try:
            assert_done(*await self.play(example, change))
        except StreamopsError as error:
            return error
        return None


def assert_done(plan: Plan, outcome: Outcome) -> None:
    assert plan.count > 0
    assert (outcome.applied, outcome.complete, outcome.failed) == (plan.count, True, ())


SAMPLED = tuple(EXAMPLES)[::7]
"""Examples for every day; the others are played in tests/system."""


async def assert_refused_in_time(stage: Stage, example: Example) -> None:
    """Without any one of the commands that it takes, an operation does all the same, or nothing."""
    assert_done(*await stage.play(example))
    for command in sorted(used_commands(stage.server)):
        refusal = await stage.refusal_of(example, f"-{command}")
        if refusal is not None:
            assert refusal.exit_code is ExitCode.REFUSED, f"without {command}: {refusal!r}"
            assert state_of(stage.server) == stage.before, f"without {command}"
