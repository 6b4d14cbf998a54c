"""The idempotency guard: which entry owns a business key."""

from collections.abc import Sequence
from datetime import timedelta

from redis.exceptions import ResponseError

from streamops.errors import ServerError
from streamops.wire.faults import FaultKind, fault
from streamops.wire.node import Command, Reply
from streamops.wire.server import Server


class Guards:
    """Guards on one server.

    From Redis 7.0 on, one command takes a key or says who has it; before that it takes two.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._in_one = True

    async def take(
        self, stream: str, claims: Sequence[tuple[str, bytes]], ttl: timedelta
    ) -> list[bytes | None]:
        """Take keys for entries, in one round trip; who owns each of them now, or none where one is no guard.

        Args:
            stream: The stream that all the keys stand beside.
            claims: Keys, each with the origin ID of the entry that wants it.
            ttl: How long each is remembered.

        Raises:
            ServerError: The server does not answer, or does not let us. Some keys may be taken; taking them again
                for the same entries is harmless.
        """
        lifetime = max(1, round(ttl.total_seconds() * 1000))
        if self._in_one:
            replies = await self._server.together(
                stream, [("SET", key, owner, "PX", lifetime, "NX", "GET") for key, owner in claims]
            )
            if not (replies and isinstance(replies[0], ResponseError) and "syntax" in str(replies[0])):
                return [
                    owner if reply is None else _owner(reply)
                    for reply, (_, owner) in zip(replies, claims, strict=True)
                ]
            self._in_one = False
        commands: list[Command] = []
        for key, owner in claims:
            commands += (("SET", key, owner, "PX", lifetime, "NX"), ("GET", key))
        replies = await self._server.together(stream, commands)
        for reply in replies[::2]:
            if isinstance(reply, Exception):
                _owner(reply)
        # A key that ran out between the two commands is nobody's, and this entry may go on.
        return [
            owner if reply is None else _owner(reply)
            for reply, (_, owner) in zip(replies[1::2], claims, strict=True)
        ]


def _owner(reply: Reply) -> bytes | None:
    if isinstance(reply, Exception):
        problem = fault(reply)
        if problem.kind is FaultKind.WRONG_TYPE:
            return None
        error = problem.error("idempotency guard")
        raise error if isinstance(error, ServerError) else ServerError(str(error))
    return bytes(reply)
