"""What a soak tells, and whether it passed. Pure."""

from collections.abc import Iterator

from tests.benchmarks.soak.flatness import trend
from tests.benchmarks.soak.gauges import Gauge
from tests.benchmarks.soak.run import Result

RISING_ALLOWED = frozenset({"redis: resident memory"})
"""Restarts empty it, and its allocator fills it again; what the server uses of it is judged."""


def problems(result: Result, *, judge_gauges: bool) -> list[str]:
    """Everything that is not as it should be.

    Args:
        result: What came of it.
        judge_gauges: Whether it was long enough for gauges to tell anything.
    """
    found = []
    books, counted = result.balance, result.counted
    if not books.adds_up:
        found.append(
            f"the books do not balance: lost {books.lost[:20]}, invented {books.invented[:20]}: {books}"
        )
    if result.figures != result.written:
        found.append(f"a worker counted {result.figures} calls and failures, its book has {result.written}")
    if not counted.is_true:
        found.append(f"the exporter's counters are wrong and do not say so: {counted}")
    if result.bad_ends:
        found.append(f"workers ended with {result.bad_ends}")
    if judge_gauges:
        found += [f"not flat: {gauge.name}" for gauge in result.gauges if not _is_flat(gauge)]
    return found


def lines(result: Result) -> Iterator[str]:
    """The report, line by line."""
    books, counted = result.balance, result.counted
    yield f"took {result.seconds:.0f} s; {sum(result.faults.values())} faults, {result.killed} workers killed"
    for name, times in sorted(result.faults.items(), key=lambda item: -item[1]):
        yield f"    {times:4} {name}"
    yield (
        f"published {books.confirmed:,}, and {books.arrived:,} that were not confirmed and arrived; "
        f"{result.delayed:,} of them as delayed messages"
    )
    yield (
        f"    = done {books.done:,} + dead letters {books.dead:,} + purged {books.purged:,} + pending 0 + delayed 0"
        f"; lost {len(books.lost)}, of unknown origin {len(books.invented)}; done again after a fault {books.again:,}"
    )
    yield f"a worker's figures: {result.figures[0]:,} calls, {result.figures[1]:,} failures; its book: the same two {result.written}"
    yield (
        f"the exporter counted {counted.delivered:,} delivered and {counted.acked:,} acknowledged; the server says "
        f"{counted.read:,}; steps that could not be told: {counted.untold}"
    )
    yield f"scrapes: {result.scrapes[0]:,} answered, {result.scrapes[1]:,} not"
    yield "console and operator: " + ", ".join(f"{name} {times:,}" for name, times in result.did.items())
    for gauge in result.gauges:
        yield "    " + _row(gauge)


def _row(gauge: Gauge) -> str:
    found = trend(gauge.readings, unit=gauge.unit)
    if found is None:
        return f"{gauge.name:46} too few readings"
    verdict = "flat" if found.is_flat else "not judged" if gauge.name in RISING_ALLOWED else "NOT FLAT"
    return (
        f"{gauge.name:46} {gauge.form.format(found.level):>10} gained {gauge.form.format(found.gained):>9}"
        f" over the last three quarters, {len(gauge.readings):,} readings: {verdict}"
    )


def _is_flat(gauge: Gauge) -> bool:
    found = trend(gauge.readings, unit=gauge.unit)
    return found is not None and (found.is_flat or gauge.name in RISING_ALLOWED)
