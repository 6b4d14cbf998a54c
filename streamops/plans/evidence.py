"""Digests and samples of evidence, for every planner."""

from collections.abc import Iterable
from hashlib import sha256
from itertools import islice

SAMPLE = 10
"""Lines of a plan's sample."""


def fingerprint(*evidence: object) -> str:
    """A digest of values whose ``repr`` says all of them: twelve hexadecimal digits."""
    return sha256(repr(evidence).encode()).hexdigest()[:12]


def sample(lines: Iterable[str]) -> tuple[str, ...]:
    """The first few lines."""
    return tuple(islice(lines, SAMPLE))
