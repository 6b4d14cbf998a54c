"""``streamops pools simulate``: what our policy and fixed numbers of workers make of a recorded load."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from math import sqrt
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, Final, TextIO

import click

from streamops.autoscaling.history import ArrivalHistory, read_history, replay_history
from streamops.autoscaling.simulation import SimulatedWorkers
from streamops.cli.acting.printing import ProgressPrinter
from streamops.cli.options import command
from streamops.cli.params import RATE
from streamops.cli.session import Session
from streamops.errors import NotFound, SettingsError
from streamops.model.acting import Progress
from streamops.model.fields import Instant, option
from streamops.model.wording import counted
from streamops.resources.simulations import SIMULATION_COLUMNS, simulation_document
from streamops.resources.units import duration, rate, timestamp

if TYPE_CHECKING:
    from streamops.monitor.arrivals import ArrivalCounts
    from streamops.operations.console import Console

STDIN: Final = "-"
RECENT: Final = timedelta(minutes=15)
"""A consumer that was seen within this counts as a worker."""
SLOTS: Final = 16
VARIATION: Final = 1 / (3 * sqrt(3))
"""Standard deviation of a handler's times over their mean: from two to four thirds of it, evenly."""


@command(
    examples=[
        (
            "streamops pools simulate --stream orders --since 12h --rate 200/s",
            "what it would have done last night",
        ),
        (
            "streamops pools simulate --stream orders --group billing --rate 200/s --fixed 8",
            "compared with 8 workers all night",
        ),
        (
            "streamops pools simulate --history arrivals.csv --rate 200/s -o json",
            "a load in a file; the document has each decision",
        ),
    ],
    exits={
        1: "failed; no such stream, or its IDs are not timestamps",
        2: "usage; or a file that is not a history",
    },
)
def simulate(
    session: Session,
    *,
    stream: Annotated[
        str | None,
        option("The load: the entries of a stream, by the times in their IDs.", completes="streams"),
    ] = None,
    group: Annotated[
        str | None,
        option(
            "With --stream: compare with as many workers as the group has active consumers.", metavar="GROUP"
        ),
    ] = None,
    since: Annotated[Instant, option("With --stream: from this time on, or how long ago.")] = timedelta(
        hours=12
    ),
    max_scan: Annotated[
        int, click.IntRange(1, 10**9), option("With --stream: count no more than N entries.")
    ] = 5_000_000,
    history: Annotated[
        str | None,
        click.Path(allow_dash=True),
        option("The load: CSV or JSON lines of time and arrivals; - for stdin.", metavar="FILE"),
    ] = None,
    per_worker: Annotated[
        float,
        RATE,
        option(
            "Entries that one busy worker handles; `handler_duration_seconds` of the workers' metrics shows it.",
            "rate",
            metavar="N/s",
        ),
    ],
    fixed: Annotated[
        tuple[int, ...],
        click.IntRange(1, 10_000),
        option(
            "Also simulate this fixed worker count; repeatable; default: the policy's mean and maximum.",
        ),
    ] = (),
    minimum: Annotated[int, click.IntRange(1, 10_000), option("Minimum workers.")] = 1,
    maximum: Annotated[int, click.IntRange(1, 10_000), option("Maximum workers.")] = 20,
    objective: Annotated[
        timedelta, option("Target lag age: the longest that an entry should wait.")
    ] = timedelta(seconds=30),
    start_up: Annotated[
        timedelta, option("Time from starting a worker until it handles entries.")
    ] = timedelta(seconds=20),
    interval: Annotated[int, click.IntRange(1, 300), option("Seconds between two readings.")] = 5,
) -> None:
    """Simulate workers under a recorded load, second by second: the policy, and fixed worker counts.

    Nothing is changed anywhere, and only --stream asks a server. Pools that go to zero are not simulated.

    A history has a column `time` (RFC 3339, or seconds since 1970) and one of `arrivals` (since the line before),
    `per_second` (a rate) and `added` (a counter), such as a range query of streamops_stream_entries_added_total gives.
    """
    wrong = (
        (not (history or stream), "no load given: name a --stream, or a file with --history"),
        (history and stream, "--history reads a file, --stream the server: name one of them"),
        (history and group, "--group goes with --stream"),
        (minimum > maximum, f"--minimum is above --maximum, which is {maximum}"),
        (
            objective < timedelta(seconds=1),
            "--objective: a simulation knows whole seconds; 1s is the shortest",
        ),
    )
    for fails, message in wrong:
        if fails:
            raise SettingsError(message, "`streamops pools simulate --help` shows how.")
    workers = SimulatedWorkers(
        slots=SLOTS,
        handler_mean=SLOTS / per_worker,
        handler_deviation=VARIATION * SLOTS / per_worker,
        objective=objective.total_seconds(),
        minimum=minimum,
        maximum=maximum,
        start_up=start_up.total_seconds(),
    )
    printer = session.printer(SIMULATION_COLUMNS)
    if history is not None:
        load = _history_of_file(history)
    else:
        load, consumers = _history_of_stream(session, stream or "", group, since, max_scan)
        fixed = fixed or ((consumers,) if consumers else ())
    _explain(session, load, workers, interval)
    rows = replay_history(load, workers, Random(1), interval=interval, fixed=fixed)  # noqa: S311 - no cryptography
    printer.print_rows(rows, lambda: simulation_document(load, workers, rows, interval))


def _history_of_file(name: str) -> ArrivalHistory:
    """The history in a file, or on stdin; raises ``SettingsError`` if it cannot be read."""
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


def _history_of_stream(
    session: Session, stream: str, group: str | None, since: datetime | timedelta, max_scan: int
) -> tuple[ArrivalHistory, int]:
    """A stream's arrivals by the times of its entries' IDs, and how many consumers of the group were seen lately.

    Raises:
        StreamopsError: The server cannot be asked, there is no such stream or group, or its IDs are no times.
    """
    # A history in a file needs no client.
    from streamops.cli.reading import only_group, only_stream  # noqa: PLC0415

    progress, began = ProgressPrinter(session), time.monotonic()

    def report(done: int, total: int) -> None:
        progress(Progress(done, total, timedelta(seconds=time.monotonic() - began)))

    async def read(console: "Console") -> tuple["ArrivalCounts", int]:
        consumers = 0
        if group is not None:
            view = only_stream(await console.observe([stream]), stream)
            members = only_group(view, group).group.members or ()
            consumers = sum(each.idle <= RECENT for each in members)
        return await console.arrivals.since(stream, since, max_scan=max_scan, progress=report), consumers

    try:
        found, consumers = session.run(read)
    finally:
        progress.end()
    if not any(found.counts):
        raise NotFound(
            f"stream {stream}: no full second with entries was counted",
            "Ask for more with --since or --max-scan.",
        )
    if consumers:
        session.narrator.note(
            f"group {group} has {counted(consumers, 'consumer that was', 'consumers that were')} seen lately"
        )
    return ArrivalHistory(
        counts=found.counts, begins_at=found.begins_at, missing=tuple(_missing(found))
    ), consumers


def _missing(found: "ArrivalCounts") -> Iterator[str]:
    """What the stream no longer tells, or was not asked."""
    begins = timestamp(found.first_at)
    if found.dropped is None:
        yield f"the stream begins at {begins}; this server does not report whether entries were removed"
    elif found.dropped:
        yield (
            f"the stream begins at {begins}, and {found.dropped:,} entries that it once had were trimmed or deleted:"
            " those that came within this time are not counted"
        )
    if not found.complete:
        until = found.begins_at + timedelta(seconds=len(found.counts))
        yield f"counting ended at {timestamp(until)} after {found.scanned:,} entries: --max-scan allows more"


def _explain(session: Session, history: ArrivalHistory, workers: SimulatedWorkers, interval: int) -> None:
    """Say what is simulated, and what of the load cannot be seen."""
    note = session.narrator.note
    span = timedelta(seconds=len(history.counts))
    note(
        f"one worker handles {rate(workers.rate)}; {workers.minimum} to {workers.maximum} workers, waits of at most"
        f" {workers.objective:g} s, a start-up of {workers.start_up:g} s"
    )
    note(
        f"{counted(history.entries, 'entry', 'entries')} in {duration(span)} from {timestamp(history.begins_at)}:"
        f" {rate(history.entries / max(1, len(history.counts)))} on average, {rate(history.peak)} at most"
    )
    for line in history.missing:
        note(f"missing: {line}")
    if history.step > interval:
        note(f"one sample covers up to {history.step:,.0f} s: bursts shorter than that cannot be seen")
