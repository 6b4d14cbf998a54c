"""What targets tell, held to what can be so; and what becomes of it in errors."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from streamops.analysis.safe_text import safe
from streamops.errors import TargetChanged, TargetError
from streamops.model.pools import PoolSize

MOST_BYTES: Final = 64 * 1024
"""Of what tells a number."""
MOST_WORKERS: Final = 1_000_000
LONGEST_PAUSE: Final = timedelta(hours=1)
"""How far off a Retry-After is believed."""

_LONGEST_LINE: Final = 300
_SHORTEST_MASKED: Final = 3
_DIGITS: Final = 9

Number = Annotated[int, Meta(ge=0, le=MOST_WORKERS)]


class _Told(Struct):
    ordered: Number
    ready: Number | None = None


_DECODER: Final = msgspec.json.Decoder(Number | _Told)


def decode_size(content: bytes) -> PoolSize:
    """What a command printed: a number, or ``{"ordered": 3, "ready": 2}``.

    Raises:
        ValueError: Neither, or a number that cannot be one of workers.
    """
    try:
        told = _DECODER.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ValueError('neither a number of workers nor {"ordered": 3, "ready": 2}') from None
    if isinstance(told, int):
        return PoolSize(ordered=told)
    return PoolSize(ordered=told.ordered, ready=told.ready)


def one_line(text: str, secrets: Iterable[str] = ()) -> str:
    """The last line of a text that says anything, safe to print, not too long, and without these secrets."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_MASKED:
            text = text.replace(secret, "***")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return safe(lines[-1])[:_LONGEST_LINE] if lines else ""


def decode_pause(written: str) -> timedelta | None:
    """A Retry-After in seconds; none where it says something else."""
    text = written.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        return None
    return min(timedelta(seconds=int(text)), LONGEST_PAUSE)


def require_expected(label: str, found: PoolSize, expected: PoolSize) -> None:
    """Insist that there are as many workers as were decided on; raises ``TargetChanged``."""
    if found.ordered != expected.ordered:
        raise changed(label, f"it has {found.ordered} workers by now, not {expected.ordered}")


def changed(label: str, why: str) -> TargetChanged:
    """It is not as it was read."""
    return TargetChanged(f"{label}: {why}", "Nothing was asked for; look at it again and decide anew.")


def require_done(label: str, asked: int, found: PoolSize) -> None:
    """Insist that what was asked for is what it now says; raises ``TargetError``."""
    if found.ordered != asked:
        raise TargetError(
            f"{label}: was asked for {asked} workers, agreed, and says that {found.ordered} are asked for",
            "Something else sets the number too, or limits it: look for another autoscaler, or a quota.",
        )
