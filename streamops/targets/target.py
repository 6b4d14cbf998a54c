"""What every target can do: say how many workers there are, and be asked for another number; and what its answers are held to."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final, Protocol

from streamops.errors import TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.model.text import safe

MOST_WORKERS: Final = 1_000_000
LONGEST_PAUSE: Final = timedelta(hours=1)
"""How far off a Retry-After is believed."""

_LONGEST_LINE: Final = 300
_SHORTEST_MASKED: Final = 3
_DIGITS: Final = 9


class Target(Protocol):
    """Whatever runs the workers of one pool.

    Attributes:
        kind: The word for it in the configuration: ``local``, ``kubernetes``, ``command``.
        label: What it is, for people: ``deployment shop/billing``. Without a secret.
    """

    kind: str
    label: str

    async def read(self) -> PoolSize:
        """How many workers there are, and are asked for.

        Raises:
            TargetError: It is not known, or the answer makes no sense.
        """

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:
        """Ask for a number of workers, unless it is no longer as it was read.

        Args:
            workers: How many.
            expected: What was read when this was decided.
            reason: Why, in a sentence, for the log.
            key: The same for the same decision, however often it is sent.

        Raises:
            TargetChanged: It is not as expected any more; read it again and decide again.
            TargetError: It refuses, fails, or cannot be reached. Whether it was done may then not be known.
        """

    async def close(self) -> None:
        """Let go of connections."""


def one_line(text: str, secrets: Iterable[str] = ()) -> str:
    """The last line of a text that says anything, safe to print, not too long, and without these secrets."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_MASKED:
            text = text.replace(secret, "***")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return safe(lines[-1])[:_LONGEST_LINE] if lines else ""


def decode_pause(written: str) -> timedelta | None:
    """A Retry-After in seconds; None if it says something else."""
    text = written.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        return None
    return min(timedelta(seconds=int(text)), LONGEST_PAUSE)


def require_expected(label: str, found: PoolSize, expected: PoolSize) -> None:
    """Require that there are as many workers as were decided on; raises ``TargetChanged``."""
    if found.ordered != expected.ordered:
        raise changed(label, f"it has {found.ordered} workers now, not {expected.ordered}")


def changed(label: str, why: str) -> TargetChanged:
    """It is not as it was read."""
    return TargetChanged(f"{label}: {why}", "Nothing was changed. Make a new plan from the present count.")


def require_done(label: str, asked: int, found: PoolSize) -> None:
    """Require that what was asked for is what it now says; raises ``TargetError``."""
    if found.ordered != asked:
        raise TargetError(
            f"{label}: it accepted {asked} workers, and reports {found.ordered}",
            "Something else sets or limits the count: look for another autoscaler, or a quota.",
        )
