"""The table ``[notify]``, as a configuration file may state it."""

from datetime import timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

SHORTEST_EVERY: Final = timedelta(seconds=1)
"""A page is not made anew within a second."""


class NotifyLevel(StrEnum):
    """From which level on somebody is told."""

    WARN = "warn"
    CRITICAL = "critical"


class NotifyTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[notify]``: who is told of what ``streamops exporter --notify`` finds, and when.

    Attributes:
        urls_file: File of addresses, one a line, as apprise writes them; what begins with ``#`` is none. A line
            that begins with ``critical=`` is told of what is critical alone.
        urls_command: Program that prints such lines.
        level: The least that is told.
        fire_after: How long it must hold before it is told.
        resolve_after: How long it must be gone before that is told.
        pause: Time between two messages or attempts to send one; what comes meanwhile goes out together.
        every: How often is looked, whether somebody scrapes or not.
    """

    urls_file: str | None = None
    urls_command: str | tuple[str, ...] | None = None
    level: NotifyLevel = NotifyLevel.WARN
    fire_after: timedelta = timedelta(minutes=1)
    resolve_after: timedelta = timedelta(minutes=2)
    pause: timedelta = timedelta(minutes=1)
    every: timedelta = timedelta(seconds=15)

    def __post_init__(self) -> None:
        if self.urls_file is not None and self.urls_command is not None:
            raise ValueError("says both urls_file and urls_command")
        if self.every < SHORTEST_EVERY:
            raise ValueError("says every shorter than a second")
