"""Idempotency keys: which entry owns a business key."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct
from redis.exceptions import ResponseError

from streamops.errors import ServerError
from streamops.model.text import name_text
from streamops.wire.consuming.subscription import Subscription, run_for_group
from streamops.wire.faults import FaultKind, fault
from streamops.wire.keys import owner_key
from streamops.wire.node import Argument, Command, Reply
from streamops.wire.script_calls import Call
from streamops.wire.server import Server

_MILLISECOND: Final = timedelta(milliseconds=1)


class KeyClaim(Struct, frozen=True, gc=False):
    """An entry's claim to a business key.

    Attributes:
        key: The key in Redis that holds the owner.
        origin: The entry's original ID, which is the owner's value.
        place: The field of its marks: the ID under which it is pending, and in which stream; None if that is the
            original ID.
    """

    key: str
    origin: bytes
    place: str | None = None


class KeyVerdict(StrEnum):
    """The verdict on a business key that another entry has taken before."""

    MINE = "mine"
    """The other entry was deleted before it was handled: the key is this entry's now."""

    DUPLICATE = "duplicate"
    """The other entry was handled, or will be."""

    LATER = "later"
    """The other entry is pending and no longer in its stream: a worker that has read it may still handle it."""


class IdempotencyKeys:
    """The idempotency keys of one server.

    From Redis 7.0 on, one SET with NX and GET takes a key or returns its owner; before that it takes two commands.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._in_one = True

    async def take(self, sub: Subscription, claims: Sequence[KeyClaim]) -> list[bytes | None]:
        """Take free keys for entries in one round trip; the owner of each key, None if a key holds another type.

        Args:
            sub: The subscription of the entries.
            claims: The entries and their keys.

        Raises:
            ServerError: The server does not answer, or refuses. Some keys may be taken; repeating is harmless.
        """
        lifetime: Command = () if sub.guarded is None else ("PX", sub.guarded // _MILLISECOND)
        how: Command = (*lifetime, "NX", "GET")
        # First, so that a worker that meets their keys finds them under their present IDs.
        moved: list[Command] = [
            ("SET", owner_key(sub.guards, name_text(one.origin)), one.place, "PX", sub.owners_kept_ms)
            for one in claims
            if one.place is not None
        ]
        if self._in_one:
            commands: list[Command] = [("SET", one.key, one.origin, *how) for one in claims]
            replies = await self._take(sub, moved, commands)
            if not (replies and isinstance(replies[0], ResponseError) and "syntax" in str(replies[0])):
                return _owners(claims, replies)
            self._in_one = False
        commands = []
        for one in claims:
            commands += (("SET", one.key, one.origin, *lifetime, "NX"), ("GET", one.key))
        replies = await self._take(sub, moved, commands)
        for reply in replies[::2]:
            if isinstance(reply, Exception):
                _owner(reply)
        return _owners(claims, replies[1::2])

    async def contest(self, sub: Subscription, rows: Sequence[tuple[KeyClaim, bytes]]) -> list[KeyVerdict]:
        """Decide on keys that other entries own; keys of owners that were never handled change owner.

        Args:
            sub: The subscription of the entries.
            rows: The claims, each with the present owner.

        Raises:
            ServerError: The server does not answer, or refuses.
        """
        keys = [sub.retries, sub.unhandled]
        arguments: list[Argument] = [sub.group, 0 if sub.guarded is None else sub.guarded // _MILLISECOND]
        for claim, owner in rows:
            keys += (claim.key, owner_key(sub.guards, name_text(owner)))
            arguments += (claim.origin, owner)
        call = Call(sub.stream, tuple(arguments), _verdicts, tuple(keys))
        verdicts: list[KeyVerdict] | None = await run_for_group(self._server, sub, "consume_contest", call)
        return [KeyVerdict.LATER for _ in rows] if verdicts is None else verdicts

    async def _take(self, sub: Subscription, moved: list[Command], commands: list[Command]) -> list[Reply]:
        replies = await self._server.pipeline(sub.stream, moved + commands)
        for reply in replies[: len(moved)]:
            if isinstance(reply, Exception):
                _owner(reply)
        return replies[len(moved) :]


async def are_noted(server: Server, sub: Subscription, rows: Sequence[tuple[bytes, bytes]]) -> list[bool]:
    """Whether a replay noted down that entries were born with other IDs.

    Args:
        server: Where.
        sub: Whose entries.
        rows: The ID of each, and the one that it says.

    Raises:
        ServerError: The server does not answer, or does not let us.
    """
    commands: list[Command] = [("ZSCORE", sub.replayed, b"%b %b" % row) for row in rows]
    return [
        _checked_reply(reply, sub.replayed) is not None
        for reply in await server.pipeline(sub.stream, commands)
    ]


def _owners(claims: Sequence[KeyClaim], replies: Sequence[Reply]) -> list[bytes | None]:
    """Who owns each key. One that ran out before it was asked for is no entry's, and its entry may go on."""
    return [
        one.origin if reply is None else reply if type(reply) is bytes else _owner(reply)
        for one, reply in zip(claims, replies, strict=True)
    ]


def _verdicts(reply: Reply) -> list[KeyVerdict]:
    return [KeyVerdict(word.decode()) for word in reply]


def _owner(reply: Reply) -> bytes | None:
    owner = _checked_reply(reply, "idempotency guard")
    return None if owner is None else bytes(owner)


def _checked_reply(reply: Reply, what: str) -> Reply | None:
    """A reply; None if the key holds something else. Raises ``ServerError``."""
    if not isinstance(reply, Exception):
        return reply
    problem = fault(reply)
    if problem.kind is FaultKind.WRONG_TYPE:
        return None
    error = problem.error(what)
    raise error if isinstance(error, ServerError) else ServerError(str(error))
