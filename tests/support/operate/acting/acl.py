"""Shared by the tests of acl."""

from msgspec.structs import replace

from streamops.present.acl import AclRole, acl_rules
from streamops.wire.options import ConnectionOptions, Secret
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
