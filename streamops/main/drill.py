"""``streamops autoscale drill``. The command line and the autoscaler do not know each other; this does."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import click

from streamops.cli.burden import agree_to_burden, keep_option, run_to_its_end, yes_option
from streamops.cli.command import Command
from streamops.cli.drilling import Timeline, drill_options
from streamops.cli.globals import Output
from streamops.cli.params import DURATION
from streamops.cli.session import Session, with_session
from streamops.errors import ExitCode, SettingsError
from streamops.model.bench import DrillPlan, DrillVerdict
from streamops.present.bench import drill_burden
from streamops.present.columns.bench import DRILL_COLUMNS
from streamops.present.columns.pools import DECISION_COLUMNS
from streamops.present.pools import decision_json

if TYPE_CHECKING:
    from streamops.autoscaler.drilling import DecisionLog
    from streamops.scaling.config import ScalingConfig

EVERY: Final = timedelta(seconds=1)


@click.command(
    cls=Command,
    short_help="Drill an overload on a pool that grows and shrinks by itself.",
    examples=[
        ("streamops autoscale drill --yes", "50,000 events of 50 to 100 ms, 1 to 8 workers: some minutes"),
        (
            "streamops autoscale drill --events 5000 --maximum 4 --no-shrink --yes",
            "a small one, of some seconds",
        ),
        ("streamops autoscale drill --objective 1m --slots 32 --yes", "more patience, fatter workers"),
    ],
    exits={
        0: "passed: every event accounted for, nothing left over, the pool as small as it was",
        1: "failed",
        4: "refused: read-only, not permitted, not agreed to",
        130: "interrupted; the keys are gone",
    },
)
@drill_options
@click.option(
    "--minimum",
    metavar="N",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="The least workers.",
)
@click.option(
    "--maximum",
    metavar="N",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="The most workers.",
)
@click.option(
    "--objective",
    metavar="SPAN",
    type=DURATION,
    default="30s",
    show_default=True,
    help="The longest an event should wait.",
)
@click.option(
    "--shrink/--no-shrink",
    default=True,
    show_default=True,
    help="Wait until the pool is as small as it may be.",
)
@keep_option
@yes_option
@with_session
def drill(
    session: Session,
    /,
    *,
    work: tuple[timedelta, timedelta],
    minimum: int,
    maximum: int,
    objective: timedelta,
    shrink: bool,
    yes: bool,
    **values: Any,
) -> ExitCode:
    """Drill an overload: a burst of events on a pool of workers whose number a controller decides.

    The lag rises, the pool grows, half of its workers are killed and replaced, the lag falls to zero, the pool shrinks. A
    row a second tells how it stands. At the end stand the decisions with their reasons, what became of every event, and
    how long it took beside what the workers that there were could have done it in.

    Workers, supervisor and controller are real ones, on this machine; keys and pool have names of their own, and go.
    """
    from streamops.scaling.config import ScalingConfig  # noqa: PLC0415 - only who drills pays for it

    printer = session.printer(DRILL_COLUMNS)
    try:
        config = ScalingConfig(
            minimum=minimum, maximum=maximum, objective=objective, start_up=timedelta(seconds=2)
        )
    except ValueError as error:
        raise SettingsError(f"--minimum, --maximum, --objective: {error}", "Correct them.") from None
    rest_at = minimum if shrink else None
    plan = DrillPlan(least=work[0], most=work[1], workers=maximum, rest_at=rest_at, **values)
    from streamops.autoscaler.drilling import DecisionLog  # noqa: PLC0415
    from streamops.process.logs import LogFormat, configure_logs  # noqa: PLC0415
    from streamops.runtime.bench.place import new_tag  # noqa: PLC0415
    from streamops.runtime.bench.processes import SILENT  # noqa: PLC0415

    tag = new_tag()
    agree_to_burden(session, "drill", drill_burden(plan, tag, session.settings.connection.label), yes=yes)
    pool = f"drill-{tag.strip('{}').rpartition(':')[2]}"
    # The timeline and the decisions tell all that the supervisor and the controller would log.
    configure_logs(LogFormat.TEXT, SILENT)
    timeline, log = Timeline(printer), DecisionLog(pool)
    verdict = run_to_its_end(_drill(session, plan, tag, timeline, config, pool, log))
    timeline.end(session, plan, verdict, {"decisions": [decision_json(one) for one in log.decisions]})
    _tell_decisions(session, log)
    shrunk = not shrink or verdict.rested <= minimum
    return ExitCode.DONE if verdict.passed and shrunk else ExitCode.FAILED


async def _drill(  # noqa: PLR0917 - what the command has put together
    session: Session,
    plan: DrillPlan,
    tag: str,
    timeline: Timeline,
    config: "ScalingConfig",
    pool: str,
    log: "DecisionLog",
) -> DrillVerdict:
    from streamops.autoscaler.drilling import hiring_by_policy  # noqa: PLC0415 - as above
    from streamops.operate.console import Console  # noqa: PLC0415
    from streamops.runtime.bench.drill import drill as run_drill  # noqa: PLC0415
    from streamops.settings.actors import actor_of  # noqa: PLC0415

    settings = session.settings
    async with await Console.open(
        settings.connection, None, settings.thresholds, actor=actor_of(settings)
    ) as console:
        hire = hiring_by_policy(console, pool, config, log, EVERY)
        try:
            return await run_drill(settings.connection, plan, tag, timeline.add, hire)
        finally:
            await console.pools.forget(pool)


def _tell_decisions(session: Session, log: "DecisionLog") -> None:
    """The decisions, for people; a document has them already, and lines are of the timeline alone."""
    if session.given.output in (Output.TABLE, Output.PLAIN):
        click.echo()
        session.printer(DECISION_COLUMNS).print_rows(log.decisions, dict, decision_json)
