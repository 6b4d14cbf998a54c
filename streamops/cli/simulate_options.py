"""The options of ``autoscale simulate``."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import click

from streamops.cli.params import COMPLETIONS, DURATION, MOMENT, RATE
from streamops.cli.simulating import TIMES
from streamops.scaling.simulator.contest import BY_NAME, OTHERS

MAX_SCAN: Final = 5_000_000


def _number(name: str, field: str, most: int, text: str, default: int | None = None) -> Callable[..., Any]:
    return click.option(
        name,
        field,
        metavar="N",
        type=click.IntRange(1, most),
        default=default,
        show_default=default is not None,
        help=text,
    )


class _HandlerTime(click.ParamType[timedelta]):
    """A span longer than zero."""

    name = "duration"

    def convert(
        self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Read it; fails as a usage error."""
        return DURATION.convert(value, param, ctx) or self.fail(
            "a handler takes some time: write 75ms.", param, ctx
        )


OPTIONS: Final = (
    click.option(
        "--shape",
        "shapes",
        type=click.Choice(list(BY_NAME)),
        multiple=True,
        metavar="NAME",
        help=f"A load shape; may repeat; all unless named: {', '.join(BY_NAME)}.",
    ),
    _number("--seeds", "seeds", 1_000, "Runs of each shape, each with a chance of its own.", 2),
    _number("--seed", "seed", 2**31, "Where the seeds begin; the same ones give the same figures.", 1),
    _number("--interval", "interval", 300, "Seconds between two looks of ours.", 5),
    click.option(
        "--against",
        metavar="NAMES",
        help=f"Who runs beside: all, none, or some of {', '.join(OTHERS)}, with commas. "
        "Unless given: all on shapes, none on a history.",
    ),
    click.option(
        "--changed",
        is_flag=True,
        help="Each seed with other workers: objective 20-120 s, start-up 2-60 s, 4-64 slots, 3-100 workers at most, "
        "times with and without heavy tails.",
    ),
    _number("--min", "minimum", 10_000, "Workers there are at least; 1 unless given."),
    _number("--max", "maximum", 10_000, "Workers there are at most; 20 unless given."),
    click.option(
        "--objective",
        type=DURATION,
        metavar="SPAN",
        help="The longest an entry should wait; 30s unless given.",
    ),
    click.option(
        "--start-up",
        type=DURATION,
        metavar="SPAN",
        help="From ordering a worker to its work; 20s unless given.",
    ),
    _number("--slots", "slots", 100_000, "Entries a worker handles at once; 16 unless given."),
    click.option(
        "--handler-time",
        type=_HandlerTime(),
        metavar="SPAN",
        help="How long an entry takes on average; 75ms unless given.",
    ),
    click.option(
        "--handler-times",
        type=click.Choice(list(TIMES)),
        metavar="KIND",
        help=f"How times spread: {', '.join(TIMES)}; the latter two have heavy tails. Uniform unless given.",
    ),
    click.option(
        "--rate",
        type=RATE,
        metavar="N/s",
        help="Entries that one busy worker handles, in the place of its times.",
    ),
    click.option(
        "--details",
        is_flag=True,
        help="A row a shape and policy: late entries, waits, worker hours, changes.",
    ),
    click.option("--trace", is_flag=True, help="Print the decisions of ours in one run, with reasons."),
    click.option(
        "--history",
        metavar="FILE",
        type=click.Path(allow_dash=True),
        help="A recorded load: CSV or JSON lines of time and arrivals; - for stdin.",
    ),
    click.option(
        "--stream",
        metavar="STREAM",
        shell_complete=COMPLETIONS["streams"],
        help="A recorded load: the entries of a stream, by their IDs.",
    ),
    click.option(
        "--group",
        metavar="GROUP",
        help="With --stream: its consumers seen lately are a fixed number to compare with.",
    ),
    click.option(
        "--since",
        type=MOMENT,
        metavar="TIME",
        help="With --stream: from this time on, or how long ago; 12h unless given.",
    ),
    _number("--max-scan", "max_scan", 10**9, "With --stream: count no more than N entries.", MAX_SCAN),
    click.option(
        "--fixed",
        type=click.IntRange(1, 10_000),
        multiple=True,
        metavar="N",
        help="With a history: a number of workers to compare with; may repeat.",
    ),
    _number("--processes", "processes", 1_024, "Processes at once; one a processor unless given."),
)
"""In the order of the help."""


def simulate_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """All of them."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function
