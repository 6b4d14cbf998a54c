"""What a page of metrics costs once it is collected: ``python -m tests.benchmarks.bench_page``."""

import gc
from time import process_time

from msgspec.structs import replace

from streamops.exporter.page import MetricsPage
from streamops.exporter.rendering import Form, LabelCache
from streamops.exporter.series_limits import NO_LIMITS
from streamops.exporter.shown import ScrapeReading
from streamops.model.streams import Consumer, Snapshot, StreamState
from streamops.monitor.observe import Observer
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import (
    consumer,
    entry_id,
    group,
    minutes,
    pending_entry,
    seconds,
    snapshot,
    stream,
)

STREAMS, GROUPS_EACH, CONSUMERS_EACH = 1_000, 2, 3
SCRAPES, WARM = 14, 2
PARTS = ("observing", "text", "text and gzip")


def main() -> None:
    """Print milliseconds of CPU, the least of many scrapes, where nothing moves and where everything does.

    A scrape costs the first and the last.
    """
    for title, speed in (("nothing moves", 0), ("everything moves", 1)):
        best, series, size = _measure(speed)
        parts = ", ".join(f"{name} {ms:.1f}" for name, ms in zip(PARTS, best, strict=True))
        print(f"{title}: {series:,} series, {size / 1e6:.1f} MB; ms of CPU: {parts}")


def _measure(speed: int) -> tuple[list[float], int, int]:
    found = [_snapshot(poll, speed) for poll in range(SCRAPES)]
    observer, labels, page = Observer(Thresholds(), rates=False), LabelCache(), b""
    best = [float("inf")] * len(PARTS)
    gc.collect()
    for scrape, collected in enumerate(found):
        started = process_time()
        reading, observed = ScrapeReading(observer.observe(collected)), process_time()
        page = MetricsPage(reading, NO_LIMITS, labels, 0.0).plain()
        printed = process_time()
        MetricsPage(reading, NO_LIMITS, labels, 0.0).packed(Form.TEXT)
        ended = process_time()
        taken = (observed - started, printed - observed, ended - printed)
        if scrape < WARM:
            continue
        best = [min(pair) for pair in zip(best, [one * 1000 for one in taken], strict=True)]
    return best, sum(not line.startswith(b"#") for line in page.splitlines()), len(page)


def _snapshot(poll: int, speed: int) -> Snapshot:
    streams = (_stream(number, poll * speed, poll) for number in range(STREAMS))
    return snapshot(*streams, at=poll * seconds(15))


def _stream(number: int, moved: int, poll: int) -> StreamState:
    at = moved * seconds(15)
    groups = [
        group(
            f"group-{which}",
            lag=5 + (number + moved) % 7,
            waiting=seconds(3 + moved + number / 1000),
            pending=6 + number * moved % 5,
            position=entry_id(seconds(60) - at),
            entries_read=100 + moved * 3,
            oldest=pending_entry(seconds(90) - at, idle=seconds(30) + (poll - moved) * seconds(15)),
            oldest_age=seconds(90),
            members=[_member(number, which, poll - moved) for which in range(CONSUMERS_EACH)],
        )
        for which in range(GROUPS_EACH)
    ]
    return stream(
        f"orders:region-{number:04d}",
        groups,
        length=100 + moved,
        entries_added=1000 + moved * 3,
        first_id=entry_id(minutes(20) + seconds(number / 100)),
        last_generated_id=entry_id(seconds(number / 100) - at),
    )


def _member(number: int, which: int, stood: int) -> Consumer:
    idle = stood * seconds(15) + seconds(which / 10 + number / 1000)
    one = consumer(f"consumer-{which}", pending=2, idle=idle, inactive=idle)
    return replace(one, oldest_delivered=idle + seconds(5))


if __name__ == "__main__":
    main()
