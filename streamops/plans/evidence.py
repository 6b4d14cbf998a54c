"""Digests and samples of evidence, for every planner."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import islice

from streamops.model.ids import EntryId

SAMPLE = 10
"""Lines of a plan's sample."""

NAMED = 20
"""So many IDs are written out on an equivalent command line; more are left to stdin."""


def fingerprint(*evidence: object) -> str:
    """A digest of values whose ``repr`` says all of them: twelve hexadecimal digits."""
    return sha256(repr(evidence).encode()).hexdigest()[:12]


def sample(lines: Iterable[str]) -> tuple[str, ...]:
    """The first few lines."""
    return tuple(islice(lines, SAMPLE))


def named_ids(ids: Sequence[EntryId]) -> str:
    """IDs as the value of ``--ids``."""
    return ",".join(map(str, ids)) if len(ids) <= NAMED else "-"
