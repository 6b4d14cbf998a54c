"""Entries at known seconds, for counting arrivals."""

from collections.abc import Mapping
from datetime import UTC, datetime

from tests.support.servers import RunningServer

STREAM = "orders"
COUNTS = {0: 3, 1: 2_500, 2: 1, 250: 7, 299: 2}
"""Entries of some seconds: one second takes several pages, and most of the others have none."""


def add_in_seconds(server: RunningServer, counts: Mapping[int, int] = COUNTS, size: int = 10) -> datetime:
    """Entries at seconds after a time ten minutes ago; that time."""
    begin = server.client.time()[0] - 600
    pipeline = server.client.pipeline(transaction=False)
    for second, count in counts.items():
        for number in range(count):
            ms = (begin + second) * 1000 + 999 * number // max(1, count - 1)
            pipeline.xadd(STREAM, {"f": "x" * size}, id=f"{ms}-{number + 1}")
    pipeline.execute()
    return datetime.fromtimestamp(begin, UTC)
