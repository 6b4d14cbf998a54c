"""What the commands that drill an overload share: the options that say what, and the timeline."""

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import click

from streamops.cli.globals import Output
from streamops.cli.output.choosing import FOR_PEOPLE
from streamops.cli.output.facts import tell_facts
from streamops.cli.output.printer import Printer
from streamops.cli.session import Session
from streamops.errors import SettingsError
from streamops.model.bench import DrillMoment, DrillPlan, DrillVerdict
from streamops.present.bench import drill_document, verdict_facts
from streamops.present.documents import Json
from streamops.settings.durations import parse_duration

Function = Callable[..., Any]


class WorkType(click.ParamType[tuple[timedelta, timedelta]]):
    """How long an event takes: ``75ms``, or from ``50ms-100ms``."""

    name = "work"

    def convert(
        self,
        value: str | tuple[timedelta, timedelta],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[timedelta, timedelta]:
        """Read it; fails as a usage error."""
        if isinstance(value, tuple):
            return value
        first, _, second = value.partition("-")
        try:
            least, most = parse_duration(first), parse_duration(second or first)
        except SettingsError as error:
            self.fail(f"{value!r} is {error.message}. Write 50ms-100ms, or 75ms.", param, ctx)
        if most < least:
            self.fail(f"{value!r} ends before it begins. Write 50ms-100ms.", param, ctx)
        return least, most


_OPTIONS: Final = (
    click.option(
        "--events",
        metavar="N",
        type=click.IntRange(10, 10_000_000),
        default=50_000,
        show_default=True,
        help="Events of the burst.",
    ),
    click.option(
        "--slots",
        metavar="N",
        type=click.IntRange(1, 1_000),
        default=32,
        show_default=True,
        help="Events that a worker handles at once.",
    ),
    click.option(
        "--work",
        metavar="SPAN[-SPAN]",
        type=WorkType(),
        default="50ms-100ms",
        show_default=True,
        help="How long an event takes.",
    ),
    click.option(
        "--errors",
        metavar="PERCENT",
        type=click.FloatRange(0, 50),
        default=1.0,
        show_default=True,
        help="Events that fail at every try; as many again fail at the first one only.",
    ),
    click.option(
        "--stop-half/--no-stop-half",
        default=True,
        show_default=True,
        help="Kill half the workers (SIGKILL) at a quarter of the way; they return at half of it, or after 10 s.",
    ),
    click.option(
        "--seed",
        metavar="N",
        type=int,
        default=1,
        show_default=True,
        help="Draws the events: the same seed, the same ones.",
    ),
)


def drill_options(function: Function) -> Function:
    """The options that say what is drilled."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


class Timeline:
    """The rows of a drill, written as they come; a document is written at the end."""

    def __init__(self, printer: Printer[DrillMoment]) -> None:
        self._printer = printer
        self._moments: list[DrillMoment] = []
        self._lines = None if printer.output is Output.JSON else printer.lines(header=True)

    def add(self, moment: DrillMoment) -> None:
        """Write a row."""
        self._moments.append(moment)
        if self._lines is not None:
            self._lines.row(moment)
            sys.stdout.flush()

    def end(self, session: Session, plan: DrillPlan, verdict: DrillVerdict, more: Json | None = None) -> None:
        """Write what follows the rows: the verdict, beside the data where only people read it.

        Args:
            session: The call.
            plan: What was drilled.
            verdict: What became of it.
            more: What a document tells besides.
        """
        if self._lines is None:
            self._printer.print_rows(
                self._moments, lambda: drill_document(plan, self._moments, verdict) | (more or {})
            )
            return
        self._lines.end()
        output = self._printer.output
        people = output in FOR_PEOPLE
        if people or not session.given.quiet:
            file = sys.stdout if people else sys.stderr
            file.write("\n" if people else "")
            tell_facts(verdict_facts(plan, verdict), file, output=output, color=session.allows_color)
