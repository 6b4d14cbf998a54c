"""Findings as they fire: since when, and until when somebody silenced them. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.analysis.wording import counted
from streamops.model.observation import Finding
from streamops.model.silences import FindingKey

SPANS: Final = (timedelta(hours=1), timedelta(hours=4), timedelta(days=1))
"""For how long a finding can be silenced: pressing again takes the next, and after the last none."""
PRESSED_WITHIN: Final = timedelta(minutes=1)
"""A silence that is younger than this is the last press's, and not to be renewed but made longer."""


class AlertRow(Struct, frozen=True):
    """A finding that holds now.

    Attributes:
        stream: The stream it concerns; none for the server.
        group: The group it concerns; none for the stream or the server.
        finding: The finding.
        number: Which of those with the same code and subject it is, from 0: a cluster has several servers.
        since: When it was first seen, by the server's clock.
        from_start: Whether it held already when watching began, so that it may be older.
        silenced_until: When its silence ends; none where it is not silenced.
    """

    stream: str | None
    group: str | None
    finding: Finding
    number: int
    since: datetime
    from_start: bool
    silenced_until: datetime | None = None

    @property
    def key(self) -> FindingKey:
        """What it is about."""
        return (str(self.finding.code), self.stream, self.group)


def worst_then_newest(rows: Sequence[AlertRow]) -> tuple[AlertRow, ...]:
    """The rows in the order to look at them: those silenced last, then the worst first, then the newest."""
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                row.silenced_until is not None,
                -row.finding.level,
                -row.since.timestamp(),
                row.key[1] or "",
                row.key[2] or "",
                row.number,
            ),
        )
    )


def next_silence(until: datetime | None, now: datetime) -> datetime | None:
    """When a silence ends after one more press: the next longer span from now on, and after the longest at once."""
    left = timedelta(0) if until is None else until - now
    longer = next((span for span in SPANS if span > left + PRESSED_WITHIN), None)
    return None if longer is None else now + longer


def counts_text(rows: Sequence[AlertRow]) -> str:
    """How many fire, and how many of those are silenced: ``5 firing, 2 of them silenced``."""
    silenced = sum(row.silenced_until is not None for row in rows)
    return f"{counted(len(rows), 'finding', 'findings')}{f', {silenced:,} silenced' if silenced else ''}"
