"""Whether a user may do what it is about to do, asked without doing it: each command in a form that changes nothing.

What scripts call between or after their writes is asked for too: where it were denied, they would end half-way.

Servers check permissions, memory and replica state before they look at arguments, so a form that is bound to
fail or to find nothing says all of that. It needs no ACL DRYRUN, which Redis 6.2 does not have.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from streamops.errors import Refused
from streamops.wire.batches import Request
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.faults import KEY_DENIED, Fault, FaultKind, fault
from streamops.wire.keys import done_key, moved_key, payload_key, pool_key, worker_key
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


_GROUP: Final = (
    *("XREADGROUP", "XACK", "XCLAIM", "XPENDING", "XADD", "XRANGE", "XREVRANGE", "XGROUP CREATE"),
    *("XGROUP DELCONSUMER", "XINFO STREAM", "XINFO GROUPS", "XINFO CONSUMERS", "EVAL"),
)
_RETRIES: Final = (*_GROUP, "XDEL")
_DEAD_LETTERS: Final = ("XADD", "XREVRANGE", "EVAL")
_QUEUE: Final = ("ZADD", "ZREM", "ZRANGE", "ZSCORE", "ZCARD", "EVAL")
_BODIES: Final = ("HSET", "HGET", "HMGET", "HDEL", "HEXISTS", "HLEN", "EVAL")
_MARKS: Final = ("HSET", "HGET", "HDEL", "HMGET", "EXISTS", "PEXPIRE", "EVAL")
_STRINGS: Final = ("SET", "GET", "DEL", "PERSIST", "EVAL")
_UNHANDLED: Final = ("ZADD", "ZREM", "ZSCORE", "ZRANGE", "PEXPIRE", "EVAL")
_HEARTBEAT: Final = ("HSET", "PEXPIRE", "EXISTS", "TIME", "EVAL")
_SHOWN: Final = 5


async def require_permissions(
    server: Server, subscriptions: Iterable[Subscription], *, worker_id: str, pool: str
) -> None:
    """Require that a worker may do everything that it will have to.

    What is refused for another reason than a permission may pass by itself, and is left for later.

    Raises:
        Refused: It may not; says what is missing.
        ServerError: The server does not answer.
    """
    needs = [*_needs(subscriptions, worker_id, pool)]
    denied = [one for one in await refused_writes(server, needs) if one[2].kind is FaultKind.DENIED]
    if denied:
        user = server.options.username
        whose = f"user {user!r}" if user else "the default user"
        raise Refused(
            f"{whose} may not do what a worker has to: {_words(denied)}",
            "`streamops doctor --acl runtime` prints the rules that are enough. Nothing was consumed.",
        )


def _needs(subscriptions: Iterable[Subscription], worker_id: str, pool: str) -> Iterator[tuple[str, str]]:
    """Commands, each with the key that it is sent for."""
    yield from _each(_HEARTBEAT, worker_key(worker_id))
    yield "HGET", pool_key(pool)
    for sub in subscriptions:
        yield from _each(_GROUP, sub.stream)
        yield from _each(_RETRIES, sub.retries)
        yield from _each(_DEAD_LETTERS, sub.dead_letters)
        yield from _each(_QUEUE, sub.delayed)
        yield from _each(_BODIES, sub.bodies)
        yield from _each(_MARKS, sub.attempts)
        yield from _each(_UNHANDLED, sub.unhandled)
        yield "ZSCORE", sub.replayed
        yield "SET", moved_key(sub.dead_letters, NOBODY)
        for key in (payload_key(sub.stream, NOBODY), done_key(sub.stream, sub.group, NOBODY)):
            yield from _each(_STRINGS, key)


def _each(commands: Iterable[str], key: str) -> Iterator[tuple[str, str]]:
    return ((command, key) for command in commands)


def _words(denied: Iterable[tuple[str, str, Fault]]) -> str:
    """What is missing: commands, and keys that no command is permitted on."""
    commands: dict[str, None] = {}
    keys: dict[str, None] = {}
    for command, key, why in denied:
        if why.reason == KEY_DENIED:
            keys[f"key {key}"] = None
        else:
            commands[command] = None
    missing = [*commands, *keys]
    more = len(missing) - _SHOWN
    return "no permission for " + ", ".join(missing[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
