"""Claim check: what is too large for a stream is kept beside it for a while, and its entry carries the key.

The key is the value of the field ``_so_payload``. Where that is an entry's first field, the payload is the body itself,
as the field ``data`` would hold it, or, where ``_so_shape`` follows, all its fields in one value, as JSON or MessagePack;
where it comes after others, the body is in these, and the payload beside it.
"""

from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.errors import SettingsError

SHAPE: Final = b"_so_shape"
"""The field that follows the key of a payload which stands for fields, and not for the one named ``data``."""
DAY: Final = timedelta(days=1)
MAX_INLINE: Final = 64 * 1024


class Payload(Struct, frozen=True):
    """Which bodies are kept beside their stream, and for how long.

    Attributes:
        ttl: How long a payload is kept: longer than the slowest group needs, retries included.
        max_inline: Bodies of more bytes than this are kept beside the stream; smaller ones stay in their entries.
    """

    ttl: timedelta = DAY
    max_inline: int = MAX_INLINE

    def __post_init__(self) -> None:
        check_ttl(self.ttl)
        if self.max_inline < 0:
            raise SettingsError(
                f"max_inline is {self.max_inline}",
                "It is a number of bytes; with 0 every body goes beside the stream.",
            )


def check_ttl(ttl: object) -> None:
    """Insist that a payload is kept for some time; raises ``SettingsError``."""
    if not isinstance(ttl, timedelta) or ttl < timedelta(milliseconds=1):
        raise SettingsError(
            f"payloads are to be kept for {ttl}", "Give a time to live, such as timedelta(days=1)."
        )
