"""``streamops bench drill``: a burst on too few workers, half of them killed on the way."""

from datetime import timedelta
from typing import Any

import click

from streamops.cli.burden import agree_to_burden, keep_option, run_to_its_end, yes_option
from streamops.cli.command import Command
from streamops.cli.drilling import Timeline, drill_options
from streamops.cli.session import Session, with_session
from streamops.errors import ExitCode
from streamops.model.bench import DrillPlan
from streamops.present.bench import drill_burden
from streamops.present.columns.bench import DRILL_COLUMNS


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
@drill_options
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Worker processes.",
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
    timeline = Timeline(printer)
    verdict = run_to_its_end(run_drill(connection, plan, tag, timeline.add))
    timeline.end(session, plan, verdict)
    if plan.keep:
        session.narrator.note(f"the keys under {tag} stay for an hour")
    return ExitCode.DONE if verdict.passed else ExitCode.FAILED
