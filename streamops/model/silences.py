"""Findings that somebody does not want to be reminded of for a while."""

from datetime import datetime

from msgspec import Struct

FindingKey = tuple[str, str | None, str | None]
"""What a finding is about: its code, its stream and its group; neither for the server's own."""


class Silence(Struct, frozen=True):
    """One finding, silenced. It is still found, shown and counted.

    Attributes:
        key: The finding.
        until: When it ends, by the server's clock.
    """

    key: FindingKey
    until: datetime
