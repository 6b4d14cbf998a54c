"""Users with the rules of a worker, and fewer."""

import pytest
from msgspec.structs import replace

from streamops.errors import Refused
from streamops.resources.acl import STREAM, AclRole, acl_rules
from streamops.wire.options import ConnectionOptions, Secret
from tests.support.programs import ServerProgram
from tests.support.runtime.everything import STREAM as EVERYTHING
from tests.support.runtime.everything import application
from tests.support.runtime.working import working
from tests.support.servers import RunningServer

USER, PASSWORD = "shop", Secret("right")
OPTIONAL = {"publish", "subscribe", "multi", "exec"}


def rules_of(program: ServerProgram, stream: str = EVERYTHING) -> list[str]:
    """The printed rules for one stream."""
    rules = acl_rules(AclRole.RUNTIME)
    text = rules.rules_6_2 if program.version < (7,) else rules.rules
    return text.replace(STREAM, stream).split()


class Users:
    """Users of one server."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self.commands = [word[1:] for word in rules_of(server.program) if word.startswith("+")]

    def limited(self, *changes: str, keys: tuple[str, ...] = ()) -> ConnectionOptions:
        """A user with the printed rules, changed, and with other keys where some are given."""
        printed = rules_of(self._server.program)
        words = [word for word in printed if not (keys and word.lstrip("%R").startswith("~"))]
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


PRODUCERS = {"ping", "evalsha", "zmscore", "unlink", "hgetall", "hscan"}


CONNECTION = {"client|setname"}
"""Asked for by whoever connects; refused, it connects all the same or says so."""


async def refusal(options: ConnectionOptions) -> Refused:
    app, handled, _ = application(options)
    with pytest.raises(Refused) as caught:
        async with working(app):
            pass
    assert handled == []
    return caught.value
