"""``streamops bench``: what this library, and this server, can do together."""

import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

import click

from streamops.cli.burden import agree_to_burden, keep_option, run_to_its_end, yes_option
from streamops.cli.command import Command
from streamops.cli.session import Session, with_session
from streamops.cli.terminal import width_of
from streamops.model.acting import Progress
from streamops.model.bench import MEASURES, BenchPlan, Figure
from streamops.present.bench import bench_burden, bench_document
from streamops.present.columns.bench import BENCH_COLUMNS, BENCH_DETAIL_COLUMNS
from streamops.present.plans import progress_line

APART: Final = 0.1
"""Seconds from one look of the progress line to the next."""

BAR: Final = 24
MARGIN: Final = 90
EXITS: Final = {
    1: "failed; the server refused a write, or answers no more",
    4: "refused: read-only, not permitted, not agreed to",
    130: "interrupted; the keys are gone",
}
ABOUT: Final = """

    It writes to streams of its own, under a name that nobody else has, and removes them, however it ends; where it is
    killed, or the server is away then, they go by themselves within minutes. A server in production feels it: there,
    it asks first, or wants --yes.
"""


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that all of them take."""
    for option in reversed(
        (
            _count(
                "--entries", 50_000, 10_000_000, "Entries of each measurement; one by one a tenth of them."
            ),
            _count("--size", 64, 1_000_000, "Bytes of an entry's body.", metavar="BYTES"),
            _count("--concurrency", 32, 1_000, "How many are published, or handled, at once."),
            _count("--workers", 1, 64, "Worker processes that drain."),
            _count("--batch", 500, 10_000, "Entries in one call that publishes many."),
            click.option(
                "--rate",
                metavar="N",
                type=click.FloatRange(10, 10_000),
                default=200,
                show_default=True,
                help="Entries a second where latency is measured.",
            ),
            click.option(
                "--bare", is_flag=True, help="Measure a bare redis-py loop beside each, and show the ratio."
            ),
            keep_option,
            yes_option,
        )
    ):
        function = option(function)
    return function


def _count(name: str, default: int, most: int, text: str, *, metavar: str = "N") -> Callable[..., Any]:
    return click.option(
        name,
        metavar=metavar,
        type=click.IntRange(1, most),
        default=default,
        show_default=True,
        help=text,
    )


def _bench(name: str, measures: Sequence[str], summary: str, text: str, example: str) -> click.Command:
    """One of the commands: what it measures, and how it is told of."""

    @click.command(
        name,
        cls=Command,
        short_help=summary,
        help=text + ABOUT,
        examples=[
            (f"streamops bench {name} --yes", "on the server of the context in use"),
            (f"streamops bench {name} {example}", "more of it, beside a bare redis-py loop"),
            (f"streamops bench {name} --yes -o json", "for a script"),
        ],
        exits=EXITS,
    )
    @_options
    @with_session
    def command(session: Session, /, *, yes: bool, **values: Any) -> None:
        _run(session, BenchPlan(measures=tuple(measures), **values), yes=yes)

    return command


def _run(session: Session, plan: BenchPlan, *, yes: bool) -> None:
    printer = session.printer(BENCH_COLUMNS, BENCH_DETAIL_COLUMNS)
    # Only who measures pays for the runtime.
    from streamops.runtime.bench.measuring import measure  # noqa: PLC0415
    from streamops.runtime.bench.place import new_tag  # noqa: PLC0415

    connection = session.settings.connection
    tag = new_tag()
    agree_to_burden(session, "bench", bench_burden(plan, tag, connection.label), yes=yes)
    try:
        figures: list[Figure] = run_to_its_end(measure(connection, plan, tag, _Teller(session)))
    finally:
        session.narrator.end_progress()
    printer.print_rows(figures, lambda: bench_document(plan, figures))
    if plan.keep:
        session.narrator.note(f"the keys under {tag} stay for an hour")


class _Teller:
    """Tells how far a measurement is, on a terminal."""

    def __init__(self, session: Session) -> None:
        self._narrator = session.narrator
        self._what = ""
        self._began = self._told = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self._what, self._began = what, now
        elif now - self._told < APART:
            return
        self._told = now
        width = max(0, min(BAR, (width_of(sys.stderr) or 0) - MARGIN))
        line = progress_line(Progress(done, total, timedelta(seconds=now - self._began)), width)
        self._narrator.progress(f"{what}  {line}")


everything = _bench(
    "all",
    MEASURES,
    "Measure publishing, consuming and latency.",
    "Measure how fast entries are published and drained, and how long they are under way.",
    "--bare --workers 2 --yes",
)
produce = _bench(
    "produce",
    ("produce",),
    "Measure publishing: one by one, at once, in batches.",
    "Measure how fast entries are published: one by one, by many tasks at once, and in batches.",
    "--bare --size 1024 --yes",
)
consume = _bench(
    "consume",
    ("consume",),
    "Measure how fast workers drain a stream.",
    "Measure how fast workers drain a stream: typed bodies, a handler that does nothing, acknowledgements.",
    "--bare --entries 1000000 --yes",
)
latency = _bench(
    "latency",
    ("latency",),
    "Measure how long entries are under way, and how late delayed ones are.",
    "Measure the time from before an entry is published to its handler, at a steady rate, and from when a delayed "
    "message is due to when it is an entry, by the server's clock.",
    "--bare --rate 1000 --yes",
)
