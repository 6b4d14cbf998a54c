"""Asking beforehand whether a worker may do all that it will have to, without doing any of it.

Whoever finds out later has taken entries that it can neither acknowledge nor give up.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from streamops.errors import Refused
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.faults import KEY_DENIED, Fault, FaultKind
from streamops.wire.harmless import NOBODY, refused_writes
from streamops.wire.keys import done_key, moved_key, payload_key, pool_key, worker_key
from streamops.wire.server import Server

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
    """Insist that a worker may do everything that it will have to.

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
