"""Where the history of ``autoscale simulate`` comes from: a file, or the stream itself."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from streamops.cli.acting.progress import ProgressTeller
from streamops.cli.history_files import Recorded, read_history
from streamops.cli.session import Session
from streamops.errors import NotFound, SettingsError
from streamops.model.acting import Progress
from streamops.present.units import timestamp
from streamops.scaling.simulator.history import History

if TYPE_CHECKING:
    from streamops.operate.arrivals import ArrivalCounts
    from streamops.operate.console import Console

STDIN: Final = "-"
RECENT: Final = timedelta(minutes=15)
"""A consumer that was seen within this counts as a worker."""


def history_of_file(name: str) -> Recorded:
    """The history in a file, or on stdin; raises ``SettingsError`` where it cannot be read."""
    try:
        with _opened(name) as file:
            return read_history(file, "stdin" if name == STDIN else name)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise SettingsError(f"--history {name}: {reason}", "Name a file that can be read, or -.") from None


@contextmanager
def _opened(name: str) -> Iterator[TextIO]:
    if name == STDIN:
        yield sys.stdin
    else:
        with Path(name).open(encoding="utf-8-sig", newline="") as file:
            yield file


def history_of_stream(
    session: Session, stream: str, group: str | None, since: datetime | timedelta, max_scan: int
) -> tuple[History, int | None]:
    """A stream's arrivals by the times of its entries' IDs, and how many consumers the group has that were seen lately.

    Args:
        session: How to connect.
        stream: The stream.
        group: A group of it, for its consumers; none for no number of them.
        since: From when on, or how long ago.
        max_scan: Count about so many entries at most.

    Raises:
        StreamopsError: The server cannot be asked, there is no such stream or group, or its IDs are no times.
    """
    # A history in a file needs no client.
    from streamops.cli.reading import only_group, only_stream  # noqa: PLC0415

    teller, began = ProgressTeller(session), time.monotonic()

    def tell(done: int, total: int) -> None:
        teller(Progress(done, total, timedelta(seconds=time.monotonic() - began)))

    async def read(console: "Console") -> tuple["ArrivalCounts", int | None]:
        consumers = None
        if group is not None:
            view = only_stream(await console.observe([stream]), stream)
            members = only_group(view, group).group.members
            consumers = None if members is None else sum(each.idle <= RECENT for each in members)
        return await console.arrivals.since(stream, since, max_scan=max_scan, tell=tell), consumers

    try:
        found, consumers = session.run(read)
    finally:
        teller.end()
    if not any(found.counts):
        raise NotFound(
            f"stream {stream}: no full second with entries was counted",
            "Ask for more with --since or --max-scan.",
        )
    return History(counts=found.counts, begins_at=found.begins_at, missing=tuple(_missing(found))), consumers


def _missing(found: "ArrivalCounts") -> Iterator[str]:
    """What the stream no longer tells, or was not asked."""
    begins = timestamp(found.first_at)
    if found.dropped is None:
        yield f"the stream begins at {begins}; whether entries were dropped this server does not tell"
    elif found.dropped:
        yield (
            f"the stream begins at {begins}, and {found.dropped:,} entries that it once had were trimmed or deleted:"
            " those that came within this time are not counted"
        )
    if not found.complete:
        until = found.begins_at + timedelta(seconds=len(found.counts))
        yield f"counting ended at {timestamp(until)} after {found.scanned:,} entries: --max-scan allows more"
