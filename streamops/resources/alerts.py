"""Findings as they fire: since when. Pure."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from streamops.model.observation import Finding

FindingKey = tuple[str, str | None, str | None]
"""What a finding is about: its code, its stream and its group; neither for the server's own."""


class AlertRow(Struct, frozen=True):
    """A finding that holds now.

    Attributes:
        stream: The stream it concerns; none for the server.
        group: The group it concerns; none for the stream or the server.
        finding: The finding.
        number: Which of those with the same code and subject it is, from 0: a cluster has several servers.
        since: When it was first seen, by the server's clock.
        from_start: Whether it held already when watching began, so that it may be older.
    """

    stream: str | None
    group: str | None
    finding: Finding
    number: int
    since: datetime
    from_start: bool

    @property
    def key(self) -> FindingKey:
        """What it is about."""
        return (str(self.finding.code), self.stream, self.group)


def worst_then_newest(rows: Sequence[AlertRow]) -> tuple[AlertRow, ...]:
    """The rows in the order to look at them: the worst first, then the newest."""
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                -row.finding.level,
                -row.since.timestamp(),
                row.key[1] or "",
                row.key[2] or "",
                row.number,
            ),
        )
    )
