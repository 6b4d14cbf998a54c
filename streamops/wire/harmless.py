"""Asking whether a user may write, without writing: each command in a form that changes nothing.

What scripts call between or after their writes is asked for too: where it were denied, they would end half-way.

Servers check permissions, memory and replica state before they look at arguments, so a form that is bound to
fail or to find nothing tells all of that. It needs no ACL DRYRUN, which Redis 6.2 does not have.
"""

from collections.abc import Sequence
from typing import Final

from streamops.wire.batches import Request
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.node import Argument
from streamops.wire.server import Server

NOBODY: Final = "streamops:no-such-group"
"""A group, a member or a field that does not exist: commands on it find nothing."""

_KEY: Final = "{key}"
"""Where the key stands in forms that do not begin with it."""

_FORMS: Final[dict[str, tuple[Argument, ...]]] = {
    # 0-0 can be no entry's ID: nothing is found, and XADD refuses it.
    "XACK": (NOBODY, "0-0"),
    "XADD": ("0-0", "f", "v"),
    "XDEL": ("0-0",),
    "XDELEX": ("IDS", "1", "0-0"),
    "XTRIM": ("MINID", "0"),
    "XCLAIM": (NOBODY, NOBODY, "0", "0-0"),
    "XAUTOCLAIM": (NOBODY, NOBODY, "0", "0-0"),
    "XREADGROUP": ("GROUP", NOBODY, NOBODY, "COUNT", "1", "STREAMS", _KEY, ">"),
    "XRANGE": ("0-0", "0-0"),
    "XREVRANGE": ("0-0", "0-0"),
    "XINFO STREAM": (),
    "XINFO GROUPS": (),
    "XINFO CONSUMERS": (NOBODY,),
    # An ID that is none.
    "XGROUP CREATE": (NOBODY, "none"),
    "XGROUP SETID": (NOBODY, "none"),
    "XGROUP DESTROY": (NOBODY,),
    "XGROUP DELCONSUMER": (NOBODY, NOBODY),
    # Options that exclude each other, and members that are not there.
    "SET": ("v", "NX", "XX"),
    "ZADD": ("NX", "XX", "0", "m"),
    "ZREM": (NOBODY,),
    "ZSCORE": (NOBODY,),
    "ZCARD": (),
    # From behind to before: nothing lies there.
    "ZRANGE": ("1", "0"),
    "HDEL": (NOBODY,),
    "HGET": (NOBODY,),
    "HMGET": (NOBODY,),
    "HEXISTS": (NOBODY,),
    "HLEN": (),
    "HGETALL": (),
    # A field without a value: too few arguments at all would be told before permissions are looked at.
    "HSET": ("f", "v", "f"),
    "XPENDING": (NOBODY,),
    # No number of seconds.
    "EXPIRE": ("none",),
    "PEXPIRE": ("none",),
    "EXISTS": (),
    # Asked of a key beside the one given, which is not there.
    "PERSIST": (),
    "GET": (),
    "DEL": (),
    "EVAL": ("return 0", "1", _KEY),
    # No key: it is asked where the key given is served.
    "TIME": (),
}
_KEYLESS: Final = frozenset({"TIME"})
_COMPANIONS: Final = frozenset({"PERSIST", "GET", "DEL"})
KNOWN: Final = tuple(_FORMS)
"""Commands that can be asked for."""

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
            if command in _COMPANIONS and why.kind is FaultKind.DENIED and not why.denies_command:
                continue
            if why.kind not in _PERMITTED or "READONLY" in why.reason or "MISCONF" in why.reason:
                refused.append((command, key, why))
    return refused


def _form(command: str, key: str) -> tuple[Argument, ...]:
    name, _, subcommand = command.partition(" ")
    words: tuple[Argument, ...] = (name, subcommand) if subcommand else (name,)
    if command in _KEYLESS:
        return words
    form = _FORMS[command]
    if _KEY in form:
        return (*words, *(key if word == _KEY else word for word in form))
    return (*words, f"{key}:{NOBODY}" if command in _COMPANIONS else key, *form)
