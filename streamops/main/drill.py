"""``streamops drill``. The command line and the autoscaler do not know each other; this does."""

import sys
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from streamops.cli.options import command
from streamops.cli.params import DURATION
from streamops.cli.printer import DOCUMENTS, FOR_PEOPLE, Printer, print_facts
from streamops.cli.session import Session
from streamops.errors import ExitCode, SettingsError
from streamops.model.drill import DrillPlan, DrillProgress, DrillVerdict
from streamops.model.measures import parse_duration
from streamops.model.pools import PoolDecision
from streamops.resources.drill import DRILL_COLUMNS, drill_document, drill_load, verdict_facts
from streamops.resources.pools import DECISION_COLUMNS

if TYPE_CHECKING:
    from streamops.autoscaling.controller import RoundReport
    from streamops.autoscaling.policy.config import ScalingConfig
    from streamops.operations.console import Console
    from streamops.runtime.drill import DrillKeys
import signal
from collections.abc import Coroutine

from streamops.cli.acting.choices import ask, can_ask
from streamops.errors import Forbidden
from streamops.model.acting import Environment
from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy

EVERY: Final = timedelta(seconds=1)
START_UP: Final = timedelta(seconds=2)
MOST_WORKERS: Final = 64
End = TypeVar("End", int, timedelta)


class RangeType(click.ParamType[tuple[End, End]]):
    """One value, or two with a hyphen: the least and the most."""

    name = "range"

    def __init__(self, parse: Callable[[str], End], example: str) -> None:
        self._parse: Callable[[str], End] = parse
        self._example = example

    def convert(
        self, value: str | tuple[End, End], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[End, End]:
        """Read it; fails as a usage error."""
        if isinstance(value, tuple):
            return value
        first, _, second = value.partition("-")
        try:
            least, most = self._parse(first), self._parse(second or first)
        except ValueError:
            self.fail(f"{value!r} is none from 1 to {MOST_WORKERS}. Write {self._example}.", param, ctx)
        except SettingsError as error:
            self.fail(f"{value!r} is {error.message}. Write {self._example}.", param, ctx)
        if most < least:
            self.fail(f"{value!r} ends before it begins. Write {self._example}.", param, ctx)
        return least, most


def _worker_count(text: str) -> int:
    count = int(text)
    if not 1 <= count <= MOST_WORKERS:
        raise ValueError(text)
    return count


@command(
    examples=[
        (
            "streamops drill --yes",
            "50,000 events of 50 to 100 ms, 2 workers of 32 slots: about a minute",
        ),
        ("streamops drill --workers 1-8 --yes", "with a controller: some minutes"),
        ("streamops drill --events 2000 --work 5ms-10ms --yes", "a small one, of some seconds"),
        ("streamops drill --yes -o csv > drill.csv", "its timeline for a spreadsheet"),
    ],
    exits={
        0: "passed: every event is accounted for, no keys are left, the pool is at its minimum",
        1: "failed",
        4: "refused: read-only, not permitted, not confirmed",
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
    "--workers",
    metavar="N[-N]",
    type=RangeType(_worker_count, "2, or 1-8"),
    default="2",
    show_default=True,
    help="Worker processes; with two numbers (1-8), a controller scales between them.",
)
@click.option(
    "--slots",
    metavar="N",
    type=click.IntRange(1, 1_000),
    default=32,
    show_default=True,
    help="Events that one worker handles at once.",
)
@click.option(
    "--work",
    metavar="SPAN[-SPAN]",
    type=RangeType(parse_duration, "50ms-100ms, or 75ms"),
    default="50ms-100ms",
    show_default=True,
    help="Handling time of one event.",
)
@click.option(
    "--errors",
    metavar="PERCENT",
    type=click.FloatRange(0, 50),
    default=1.0,
    show_default=True,
    help="Events that fail at every attempt; as many again fail at the first attempt only.",
)
@click.option(
    "--objective",
    metavar="SPAN",
    type=DURATION,
    default="30s",
    show_default=True,
    help="Target lag age for the controller: the longest that an event should wait.",
)
@click.option("--yes", "-y", is_flag=True, help="Start without asking.")
def drill(
    session: Session,
    /,
    *,
    work: tuple[timedelta, timedelta],
    workers: tuple[int, int],
    objective: timedelta,
    yes: bool,
    **values: Any,
) -> ExitCode:
    """Run an overload drill: a burst of events on worker processes that cannot keep up.

    The lag rises and falls to zero; half the workers are killed and replaced; failing events are
    dead-lettered. With --workers 1-8 a controller scales the pool up and down, and each decision is printed
    with its reason. A row a second shows the progress. At the end each event must be in the ledger that the
    handlers wrote, or in the dead letters: otherwise the drill has failed.

    Workers, supervisor and controller are real processes on this machine. It writes to keys of its own, under
    a unique name, and removes them at the end. If it is killed, or the server is unreachable then, its
    streams expire within minutes, and the next drill removes the record of its pool. It loads the server: in
    production it asks first, or needs --yes.
    """
    printer = session.printer(DRILL_COLUMNS)
    plan = DrillPlan(minimum=workers[0], maximum=workers[1], least=work[0], most=work[1], **values)
    # Only who drills pays for the policy and the runtime.
    from streamops.autoscaling.policy.config import ScalingConfig  # noqa: PLC0415
    from streamops.runtime.drill import SILENT, new_tag  # noqa: PLC0415
    from streamops.service.processes import LogFormat, configure_logs  # noqa: PLC0415

    try:
        config = ScalingConfig(
            minimum=plan.minimum, maximum=plan.maximum, objective=objective, start_up=START_UP
        )
    except ValueError as error:
        raise SettingsError(f"--objective: {error}", "Correct it.") from None
    tag = new_tag()
    confirm_load(session, "drill", drill_load(plan, tag, session.settings.connection.label), yes=yes)
    # The timeline and the decisions tell all that the supervisor and the controller would log.
    configure_logs(LogFormat.TEXT, SILENT)
    timeline = Timeline(printer)
    verdict = run_to_its_end(_drill(session, plan, tag, timeline, config))
    timeline.end(session, plan, verdict)
    return ExitCode.DONE if verdict.passes(plan) else ExitCode.FAILED


async def _drill(
    session: Session, plan: DrillPlan, tag: str, timeline: "Timeline", config: "ScalingConfig"
) -> DrillVerdict:
    from streamops.runtime.drill import drill as run_drill  # noqa: PLC0415 - as above

    settings = session.settings
    if plan.minimum == plan.maximum:
        return await run_drill(settings.connection, plan, tag, timeline.add)
    from streamops.autoscaling.controller import Controller  # noqa: PLC0415
    from streamops.autoscaling.decisions import Assignment, ControllerOptions  # noqa: PLC0415
    from streamops.operations.console import Console  # noqa: PLC0415
    from streamops.runtime.drill import DrillKeys  # noqa: PLC0415
    from streamops.settings.load import actor_of  # noqa: PLC0415

    async with await Console.open(
        settings.connection, None, settings.tables.health, actor=actor_of(settings)
    ) as console:

        async def control(keys: "DrillKeys") -> None:
            assignment = Assignment(
                pool=keys.pool, stream=keys.sub.stream, group=keys.sub.group, config=config
            )
            options = ControllerOptions(holder=keys.pool, assignments=(assignment,), every=EVERY)
            await Controller(console, options, timeline.decided).run()

        await _forget_killed(console)
        try:
            return await run_drill(settings.connection, plan, tag, timeline.add, control)
        finally:
            await console.pools.forget(DrillKeys(tag).pool)


async def _forget_killed(console: "Console") -> None:
    """Remove the pools of former drills that were killed: nobody works in them any more."""
    from streamops.monitor.pools import NOBODY  # noqa: PLC0415 - as above
    from streamops.runtime.drill import is_drill_pool  # noqa: PLC0415

    for name in filter(is_drill_pool, await console.pools.names()):
        if await console.pools.of_pool(name) == NOBODY:
            await console.pools.forget(name)


class Timeline:
    """The rows of a drill, written as they come, and the controller's decisions; a document is written at the end."""

    def __init__(self, printer: Printer[DrillProgress]) -> None:
        self._printer = printer
        self._moments: list[DrillProgress] = []
        self._decisions: list[PoolDecision] = []
        self._lines = None if printer.output in DOCUMENTS else printer.lines(header=True)

    def add(self, moment: DrillProgress) -> None:
        """Write a row."""
        self._moments.append(moment)
        if self._lines is not None:
            self._lines.row(moment)
            sys.stdout.flush()

    def decided(self, report: "RoundReport") -> None:
        """Keep what one round came to, each change of mind once."""
        for decision in report.decisions.values():
            if not self._decisions or _mind(self._decisions[-1]) != _mind(decision):
                self._decisions.append(decision)

    def end(self, session: Session, plan: DrillPlan, verdict: DrillVerdict) -> None:
        """Write what follows the rows: the verdict and the decisions, beside the data if only people read it."""
        if self._lines is None:
            self._printer.print_rows(
                self._moments, lambda: drill_document(plan, self._moments, verdict, self._decisions)
            )
            return
        output = self._printer.output
        people = output in FOR_PEOPLE
        if people or not session.given.quiet:
            file = sys.stdout if people else sys.stderr
            file.write("\n" if people else "")
            print_facts(verdict_facts(plan, verdict), file, output=output, color=session.allows_color)
        if people and self._decisions:
            click.echo()
            session.printer(DECISION_COLUMNS).print_rows(self._decisions, dict)


def _mind(decision: PoolDecision) -> tuple[object, ...]:
    return decision.code, decision.target, decision.ordered


Answer = TypeVar("Answer")


def confirm_load(session: Session, command: str, burden: str, *, yes: bool) -> None:
    """Say what a command will put on the server, and ask, unless the context is a development one.

    Args:
        session: The call.
        command: The command's name.
        burden: What it will put there, a line.
        yes: Whether it was agreed to beforehand.

    Raises:
        Forbidden: Read-only, or not confirmed.
    """
    settings = session.settings
    if settings.read_only:
        raise Forbidden(
            f"read-only: {command} would write here",
            "Leave out --read-only, or set `read_only = false` in the context.",
        )
    session.narrator.note(f"{command} {burden}")
    if yes or settings.environment is Environment.DEVELOPMENT:
        return
    policy = ConfirmationPolicy(ConfirmationKind.TAB)
    if not (can_ask(session) and policy.accepts(ask(policy))):
        raise Forbidden(f"{command}: not confirmed", "Nothing was written. Start with --yes.")


def run_to_its_end(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine on the workers' own event loop; Ctrl-C, a request to terminate and a hang-up cancel it.

    What it must clean up, it does then; asked again, it ends at once.

    Raises:
        KeyboardInterrupt: It was cancelled so.
    """
    # Only who drills pays for the runtime.
    from streamops.service.processes import runner  # noqa: PLC0415

    answer: list[Answer] = []
    runner()(_cancelled_by_signals(work, answer))
    if not answer:
        raise KeyboardInterrupt
    return answer[0]


async def _cancelled_by_signals(work: Coroutine[Any, Any, Answer], answer: list[Answer]) -> None:
    """Put what the work gives into ``answer``; nothing where it was cancelled."""
    import asyncio  # noqa: PLC0415 - help does not pay for it

    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for one in signals:
        loop.add_signal_handler(one, task.cancel)
    try:
        await asyncio.wait([task])
    finally:
        for one in signals:
            loop.remove_signal_handler(one)
    if not task.cancelled():
        answer.append(task.result())
