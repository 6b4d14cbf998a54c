"""Payloads that are kept beside a stream."""

from datetime import timedelta

from streamops.wire.consuming.payloads import (
    Payload,
)

HOUR = timedelta(hours=1)


PAYLOAD = Payload("{orders}:payload:1", b"\x00\xff" * 50_000, HOUR)
