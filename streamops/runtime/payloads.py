"""Claim check: what is too large for a stream is kept beside it for a while, and its entry carries the key.

The key is the value of the field ``_so_payload``. If that is an entry's first field, the payload is the body itself,
as the field ``data`` would hold it, or, where ``_so_shape`` follows, all its fields in one value, as JSON or MessagePack;
where it comes after others, the body is in these, and the payload beside it.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.text import name_text
from streamops.runtime.codec import DATA, decode_parts
from streamops.runtime.context import WorkerContext
from streamops.runtime.entry import PAYLOAD, Entry
from streamops.wire.consuming.payloads import fetch_payloads
from streamops.wire.consuming.subscription import is_own_payload

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
                "It is a number of bytes; with 0 every body is stored outside the stream.",
            )


def check_ttl(ttl: object) -> None:
    """Require that a payload is kept for some time; raises ``SettingsError``."""
    if not isinstance(ttl, timedelta) or ttl < timedelta(milliseconds=1):
        raise SettingsError(
            f"payloads are to be kept for {ttl}", "Give a time to live, such as timedelta(days=1)."
        )


async def fetch(context: WorkerContext, entries: Sequence[Entry]) -> list[Entry]:
    """Let entries have the payloads that they refer to; the entries whose payloads are gone."""
    referring = [entry for entry in entries if PAYLOAD in entry.raw and _refers(entry)]
    if not referring:
        return []
    keys = [_reference(entry) for entry in referring]
    payloads = await context.insist(entries[0].stream, lambda: fetch_payloads(context.server, keys))
    for entry, key, payload in zip(referring, keys, payloads, strict=True):
        entry.payload_key, entry.payload = key, payload
        if payload is not None and entry.raw[0] == PAYLOAD:
            # It stands for the whole body, as `data` or the body's fields would.
            parts = decode_parts(entry.get(SHAPE), payload)
            entry.unfetched = entry.raw
            entry.raw = [*(parts or (DATA, payload)), *entry.raw]
    return [entry for entry in referring if entry.payload is None]


def _reference(entry: Entry) -> str:
    return name_text(entry.get(PAYLOAD) or b"")


def _refers(entry: Entry) -> bool:
    """Whether an entry refers to a payload beside its stream; whatever else it names is a field like any other."""
    return is_own_payload(entry.consumer_stream.subscription, _reference(entry))
