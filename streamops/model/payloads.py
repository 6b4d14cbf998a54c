"""Payloads that are kept beside a stream."""

from datetime import timedelta

from msgspec import Struct


class KeptPayload(Struct, frozen=True):
    """A payload as it was found.

    Attributes:
        key: Its key.
        size: Bytes of it.
        ttl: How long it is kept; none where it is for ever.
        head: Its first bytes, as many as were asked for.
    """

    key: str
    size: int
    ttl: timedelta | None
    head: bytes
