"""redis-py's parsers with a bound on one reply: a server that never comes to its end must not take all memory."""

from typing import Any, Final

from redis._parsers import _AsyncHiredisParser, _AsyncRESP2Parser
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError
from redis.utils import HIREDIS_AVAILABLE

MOST_VALUE: Final = 512 << 20
"""Bytes of one value that are read: what servers take (``proto-max-bulk-len``) unless told otherwise."""

MOST_REPLY: Final = 1 << 30
"""Bytes of one reply: what servers take in one command (``client-query-buffer-limit``), so that no entry is larger. What is
asked for in pages is far smaller, by its count."""

VALUE_BYTES: Final = 200
"""What Python takes for a value of a few bytes."""

LINE: Final = 1 << 16
"""Bytes of a line; asyncio's own bound."""

FEW: Final = 1 << 20
"""Bytes of a reply up to which its values are not counted."""


class ReplyTooLargeError(RedisError):
    """A reply is larger than any that was asked for."""

    def __init__(self, what: str, most: int) -> None:
        size = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
        super().__init__(f"it sent a {what} that takes more than {size}")


class ReplyMemory:
    """What a reply that has not come to its end takes of memory, about."""

    __slots__ = ("_bytes",)

    def __init__(self) -> None:
        self._bytes = 0

    def begin(self) -> None:
        """Another reply begins."""
        self._bytes = 0

    def add(self, data: bytes) -> None:
        """More of it has come; raises ``ReplyTooLargeError``."""
        self._bytes += len(data)
        if self._bytes > FEW:
            # Empty lists by the million are a few bytes each on their way here.
            self._bytes += VALUE_BYTES * data.count(b"\r\n")
            if self._bytes > MOST_REPLY:
                raise ReplyTooLargeError("reply", MOST_REPLY)


class BoundedHiredisParser(_AsyncHiredisParser):
    """hiredis' parser with the bound.

    Attributes:
        burden: Of the reply that is awaited; who asks the reader itself says where one begins.
    """

    def __init__(self, socket_read_size: int) -> None:
        super().__init__(socket_read_size)
        self.burden = ReplyMemory()

    async def read_from_socket(self) -> bool:
        """Read some more of a reply."""
        stream: Any = self._stream
        reader: Any = self._reader
        data = await stream.read(self._read_size)
        if not data:
            raise LostConnection("Connection closed by server.")
        self.burden.add(data)
        reader.feed(data)
        # What it has not made a value of yet is the beginning of one.
        if reader.len() > MOST_VALUE:
            raise ReplyTooLargeError("value", MOST_VALUE)
        return True

    async def read_response(self, disable_decoding: bool = False, push_request: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002 - redis-py's
        """Read one reply."""
        self.burden.begin()
        try:
            return await super().read_response(disable_decoding, push_request)
        except MemoryError:
            raise ReplyTooLargeError("reply", MOST_REPLY) from None


class BoundedParser(_AsyncRESP2Parser):
    """redis-py's own parser with the bound."""

    def __init__(self, socket_read_size: int) -> None:
        super().__init__(socket_read_size)
        self._burden = ReplyMemory()

    async def read_response(self, disable_decoding: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002 - redis-py's
        """Read one reply."""
        self._burden.begin()
        return await super().read_response(disable_decoding)

    async def _read(self, length: int) -> bytes:
        if length > MOST_VALUE:
            raise ReplyTooLargeError("value", MOST_VALUE)
        data = await super()._read(length)
        self._burden.add(data)
        return data

    async def _readline(self) -> bytes:
        try:
            line = await super()._readline()
        except ValueError:
            raise ReplyTooLargeError("line", LINE) from None
        self._burden.add(line + b"\r\n")
        return line


PARSER: Final = BoundedHiredisParser if HIREDIS_AVAILABLE else BoundedParser
