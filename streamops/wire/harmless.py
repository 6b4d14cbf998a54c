"""Asking whether a user may write, without writing: each command in a form that changes nothing.

Servers check permissions, memory and replica state before they look at arguments, so a form that is bound to
fail or to find nothing tells all of that. It needs no ACL DRYRUN, which Redis 6.2 does not have.
"""

from collections.abc import Sequence
from typing import Final

from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.node import Argument
from streamops.wire.server import Request, Server

NOBODY: Final = "streamops:no-such-group"
"""A group that nobody has: what is asked of it finds nothing."""

_FORMS: Final[dict[str, tuple[Argument, ...]]] = {
    # 0-0 can be no entry's ID: nothing is found, and XADD refuses it.
    "XACK": (NOBODY, "0-0"),
    "XADD": ("0-0", "f", "v"),
    "XDEL": ("0-0",),
    "XTRIM": ("MINID", "0"),
    "XCLAIM": (NOBODY, NOBODY, "0", "0-0"),
    # An ID that is none.
    "XGROUP CREATE": (NOBODY, "none"),
    "XGROUP SETID": (NOBODY, "none"),
    "XGROUP DESTROY": (NOBODY,),
    "XGROUP DELCONSUMER": (NOBODY, NOBODY),
    # Options that exclude each other, and members that are not there.
    "SET": ("v", "NX", "XX"),
    "ZADD": ("NX", "XX", "0", "m"),
    "ZREM": ("",),
    "HSET": ("f",),
    "HDEL": ("",),
}
_PERMITTED: Final = (FaultKind.MISSING, FaultKind.WRONG_TYPE, FaultKind.OTHER, FaultKind.NO_SCRIPT)


async def refused_writes(server: Server, writes: Sequence[tuple[str, str]]) -> list[tuple[str, str, Fault]]:
    """Of the (command, key) pairs, those that the server would not let this user do now, each with the reason.

    Raises:
        ServerError: No node answers.
    """
    requests = [Request(key, _form(command, key)) for command, key in writes]
    replies = (await server.batch(requests)).replies
    refused = []
    for (command, key), reply in zip(writes, replies, strict=True):
        if isinstance(reply, Exception):
            why = fault(reply)
            if why.kind not in _PERMITTED or "READONLY" in why.reason or "MISCONF" in why.reason:
                refused.append((command, key, why))
    return refused


def _form(command: str, key: str) -> tuple[Argument, ...]:
    name, _, subcommand = command.partition(" ")
    words: tuple[Argument, ...] = (name, subcommand) if subcommand else (name,)
    return (*words, key, *_FORMS[command])
