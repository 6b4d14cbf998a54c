"""``streamops bench drill``: a burst on too few workers, half of them killed on the way."""

import sys
from datetime import timedelta
from typing import Any

import click

from streamops.cli.burden import agree_to_burden, keep_option, run_to_its_end, yes_option
from streamops.cli.command import Command
from streamops.cli.globals import Output
from streamops.cli.output.choosing import FOR_PEOPLE
from streamops.cli.output.facts import tell_facts
from streamops.cli.output.printer import Printer
from streamops.cli.session import Session, with_session
from streamops.errors import ExitCode, SettingsError
from streamops.model.bench import DrillMoment, DrillPlan, DrillVerdict
from streamops.present.bench import drill_burden, drill_document, verdict_facts
from streamops.present.columns.bench import DRILL_COLUMNS
from streamops.settings.durations import parse_duration


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


@click.command(
    cls=Command,
    short_help="Drill an overload: a burst, workers killed, events that fail.",
    examples=[
        (
            "streamops bench drill --yes",
            "50,000 events of 50 to 100 ms, 2 workers of 32 slots: about a minute",
        ),
        ("streamops bench drill --events 2000 --work 5ms-10ms --yes", "a small one, of some seconds"),
        (
            "streamops bench drill --workers 4 --slots 16 --errors 5 --seed 7 --yes",
            "other workers, more failures",
        ),
        ("streamops bench drill --yes -o csv > drill.csv", "its timeline for a spreadsheet"),
    ],
    exits={
        0: "passed: every event accounted for, nothing left over",
        1: "failed",
        4: "refused: read-only, not permitted, not agreed to",
        130: "interrupted; the keys are gone",
    },
)
@click.option(
    "--events",
    metavar="N",
    type=click.IntRange(10, 10_000_000),
    default=50_000,
    show_default=True,
    help="Events of the burst.",
)
@click.option(
    "--slots",
    metavar="N",
    type=click.IntRange(1, 1_000),
    default=32,
    show_default=True,
    help="Events that a worker handles at once.",
)
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Worker processes.",
)
@click.option(
    "--work",
    metavar="SPAN[-SPAN]",
    type=WorkType(),
    default="50ms-100ms",
    show_default=True,
    help="How long an event takes.",
)
@click.option(
    "--errors",
    metavar="PERCENT",
    type=click.FloatRange(0, 50),
    default=1.0,
    show_default=True,
    help="Events that fail at every try; as many again fail at the first one only.",
)
@click.option(
    "--stop-half/--no-stop-half",
    default=True,
    show_default=True,
    help="Kill half the workers (SIGKILL) at a quarter of the way; they return at half of it, or after 10 s.",
)
@click.option(
    "--seed",
    metavar="N",
    type=int,
    default=1,
    show_default=True,
    help="Draws the events: the same seed, the same ones.",
)
@keep_option
@yes_option
@with_session
def drill(session: Session, /, *, work: tuple[timedelta, timedelta], yes: bool, **values: Any) -> ExitCode:
    """Drill an overload: a burst of events on worker processes that cannot keep up.

    The lag rises, and falls to zero; half the workers are killed and return; events that fail end in the dead-letter
    queue. A row a second tells how it stands. At the end a ledger that handlers wrote, and the dead letters, are
    held against the events: each was handled or given up, none is left over, or the drill has failed.

    It writes to streams of its own, under a name that nobody else has, and removes them, however it ends; where it
    is killed, or the server is away then, they go by themselves within minutes. A server in production feels it:
    there, it asks first, or wants --yes.
    """
    printer = session.printer(DRILL_COLUMNS)
    plan = DrillPlan(least=work[0], most=work[1], **values)
    # Only who drills pays for the runtime.
    from streamops.runtime.bench.drill import drill as run_drill  # noqa: PLC0415
    from streamops.runtime.bench.place import new_tag  # noqa: PLC0415

    connection = session.settings.connection
    tag = new_tag()
    agree_to_burden(session, "drill", drill_burden(plan, tag, connection.label), yes=yes)
    timeline = _Timeline(printer)
    verdict = run_to_its_end(run_drill(connection, plan, tag, timeline.add))
    timeline.end(session, plan, verdict)
    if plan.keep:
        session.narrator.note(f"the keys under {tag} stay for an hour")
    return ExitCode.DONE if verdict.passed else ExitCode.FAILED


class _Timeline:
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

    def end(self, session: Session, plan: DrillPlan, verdict: DrillVerdict) -> None:
        """Write what follows the rows: the verdict, beside the data where only people read it."""
        if self._lines is None:
            self._printer.print_rows(self._moments, lambda: drill_document(plan, self._moments, verdict))
            return
        self._lines.end()
        output = self._printer.output
        people = output in FOR_PEOPLE
        if people or not session.given.quiet:
            file = sys.stdout if people else sys.stderr
            file.write("\n" if people else "")
            tell_facts(verdict_facts(plan, verdict), file, output=output, color=session.allows_color)
