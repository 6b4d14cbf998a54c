"""The caches of streamops that are bounded, filled at the start: what grows from then on is no cache that was not full yet.

Each remembers some 16,000 IDs, times or names, which makes five megabytes of a process within its first hours.
"""

from streamops.model.entries import EntryId
from streamops.wire.replies import decode_name

ROOM = 1 << 14
LONG_AGO_MS = 1_600_000_000_000


def fill_caches() -> None:
    """Fill them with what will not come again."""
    for number in range(ROOM):
        text = f"{LONG_AGO_MS + number}-0".encode()
        assert EntryId.parse(text).time is not None
        decode_name(b"so-host-%d" % number)
