"""What a history came to."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct


class Account(Struct, frozen=True, kw_only=True):
    """What one piece of work came to, by its own books.

    Attributes:
        entries: What was written down: letters, entries, pending ones.
        handled: Those that are where they have to be.
        destroyed: Those that the fault took, by cause.
        repeated: Those that were done again because the server forgot, or never confirmed, that they were done.
        problems: What cannot be, in words.
    """

    entries: int
    handled: int
    destroyed: Mapping[str, int] = {}
    repeated: Mapping[str, int] = {}
    problems: tuple[str, ...] = ()


class Outcome(Struct, frozen=True, kw_only=True):
    """What a history came to.

    Attributes:
        name: Which history.
        seed: Its seed.
        server: Flavour and version of the servers.
        entries: What was written down, by piece of work.
        handled: Those that are where they have to be.
        destroyed: What the fault took, by cause.
        repeated: What was done again, by cause.
        faults: What was done to the servers, by kind.
        told: How commands ended, by their words and exit codes.
        seconds: How long it took.
    """

    name: str
    seed: int
    server: str
    entries: Mapping[str, int]
    handled: Mapping[str, int]
    destroyed: Mapping[str, int]
    repeated: Mapping[str, int]
    faults: Mapping[str, int]
    told: Mapping[str, int]
    seconds: float


class BrokenPromiseError(AssertionError):
    """A history that ended otherwise than it has to; its text names the seed, and what the books say."""

    def __init__(self, outcome: Outcome, problems: Iterable[str]) -> None:
        lines = "\n".join(problems)
        super().__init__(f"{outcome.name}, seed {outcome.seed}, on {outcome.server}:\n{lines}\n{outcome}")


def added_up(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Counts of several, as one; what never came about is left out."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return {name: count for name, count in total.items() if count}
