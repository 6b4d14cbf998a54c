"""From an intent to its outcome: the plan shown, consent asked for, progress told, the outcome printed."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from streamops.cli.acting.choices import Choices, ask, can_ask
from streamops.cli.acting.printing import ActingPrinter, ProgressPrinter
from streamops.cli.acting.recurring import stand
from streamops.cli.session import Session
from streamops.errors import ApplyError, ExitCode
from streamops.model.acting import Confirmation, Outcome, Plan
from streamops.service.signals import stopped_by_ctrl_c

if TYPE_CHECKING:
    from streamops.operations.console import Console
    from streamops.operations.operation import Prepared

Prepare = Callable[["Console"], Coroutine[Any, Any, "Prepared[Any, Any]"]]


def act(session: Session, intent: Struct, choices: Choices) -> ExitCode:
    """Plan what an intent asks for, and do it where that is agreed to.

    Raises:
        StreamopsError: It could not be planned, was not confirmed, or stopped before its end.
    """
    return act_on(session, lambda console: console.prepare(intent, choices.limits), choices)


def print_nothing_to_do(session: Session, plan: Plan, choices: Choices) -> ExitCode:
    """Tell of a plan for nothing at all, which asks no server."""
    printer = ActingPrinter(session, choices)
    if choices.dry_run:
        printer.print_plan(plan)
        return ExitCode.DONE
    printer.show_plan(plan, asking=False)
    printer.print_outcome(plan, Outcome(operation=plan.operation, target=plan.target, requested=0, applied=0))
    return ExitCode.DONE


def act_on(session: Session, prepare: Prepare, choices: Choices) -> ExitCode:
    """The same for a plan that is made in another way: the rest of a job."""
    printer = ActingPrinter(session, choices)

    async def make_plan(console: "Console") -> "Prepared[Any, Any]":
        if not choices.dry_run:
            console.engine.forbid_if_read_only()
        return await prepare(console)

    session.narrator.progress("planning")
    try:
        prepared = session.run(make_plan)
    finally:
        session.narrator.end_progress()
    if choices.dry_run:
        printer.print_plan(prepared.plan)
        return ExitCode.DONE
    confirmation = choices.confirmation
    asking = can_ask(session) and not confirmation.typed and not prepared.policy.accepts(confirmation)
    printer.show_plan(prepared.plan, asking=asking)
    if asking:
        answer = ask(prepared.policy)
        # A wrong answer at the prompt is no --confirm.
        confirmation = answer if prepared.policy.accepts(answer) else Confirmation()
    # Whoever was asked may have taken any time: a connection of its own does not grow old.
    if prepared.plan.recurring:
        return stand(session, prepare, prepared, confirmation, printer)
    return _apply(session, prepared, confirmation, printer)


def _apply(
    session: Session, prepared: "Prepared[Any, Any]", confirmation: Confirmation, printer: ActingPrinter
) -> ExitCode:
    teller = ProgressPrinter(session, prepared.plan.count)

    async def apply(console: "Console") -> Outcome:
        with stopped_by_ctrl_c() as stop:
            return await console.apply(prepared, confirmation, teller, teller.started, stop)

    try:
        outcome = session.run(apply)
    except ApplyError as error:
        teller.end()
        if isinstance(error.outcome, Outcome):
            printer.print_outcome(prepared.plan, error.outcome)
            if job := error.outcome.job:
                error.resume = session.command_line(f"streamops jobs resume {job}")
        raise
    except BaseException:
        teller.note_unended()
        raise
    teller.end()
    printer.print_outcome(prepared.plan, outcome)
    return ExitCode.DONE if outcome.complete and not outcome.failed_count else ExitCode.PARTIAL
