"""What a snapshot could not read: all of it, or which parts. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from streamops.model.snapshot import NO_SUCH_STREAM, Gap, Snapshot

_STREAMS: Final = "streams"
DISCOVERY: Final = "discovery"
"""The part that is streams which are not known yet; it is read in the background."""


def nothing_read(snapshot: Snapshot) -> str | None:
    """Why not one stream could be read, where there may be some; none where one was read, or there is none."""
    if snapshot.streams:
        return None
    reasons = [gap.reason for gap in _of_streams(snapshot.gaps)]
    reasons += [gap.reason for gap in snapshot.gaps if gap.stream is None and gap.part == DISCOVERY]
    return f"no stream can be read: {_usual(reasons)}" if reasons else None


def unread_parts(snapshot: Snapshot) -> dict[str, str]:
    """Why some streams, or what concerns the whole server, could not be read, by the part."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for gap in _of_streams(snapshot.gaps):
        reasons[_STREAMS].append(gap.reason)
    for gap in snapshot.gaps:
        if gap.stream is None:
            reasons[gap.part].append(gap.reason)
    return {part: _usual(found) for part, found in reasons.items()}


def _of_streams(gaps: Iterable[Gap]) -> Iterator[Gap]:
    """Whole streams that are there and could not be read."""
    return (
        gap for gap in gaps if gap.stream and not gap.group and not gap.part and gap.reason != NO_SUCH_STREAM
    )


def _usual(reasons: Iterable[str]) -> str:
    return Counter(reasons).most_common(1)[0][0]
