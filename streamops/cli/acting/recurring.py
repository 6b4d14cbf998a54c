"""Plans that go on until they are stopped: agreed to once, carried on through lost connections, summed up by the hour."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from streamops.cli.acting.printing import ActingPrinter
from streamops.cli.session import Session
from streamops.errors import ApplyError, ExitCode, StalePlan, StreamopsError, Unreachable
from streamops.model.acting import Confirmation, Outcome, Progress
from streamops.service.signals import stopped_by_ctrl_c

if TYPE_CHECKING:
    from streamops.operations.console import Console
    from streamops.operations.operation import Prepared

Again = Callable[["Console"], Coroutine[Any, Any, "Prepared[Any, Any]"]]
"""Makes a plan anew."""

RETRY: Final = 2.0
"""Seconds between two attempts at a server that does not answer."""

NOTE_EVERY: Final = timedelta(seconds=10)


def stand(
    session: Session,
    again: Again,
    prepared: "Prepared[Any, Any]",
    confirmation: Confirmation,
    printer: ActingPrinter,
) -> ExitCode:
    """Apply a plan that goes on, again and again until it is stopped; each time is one action of the audit log.

    Args:
        session: The command's.
        again: Makes the plan anew, for another time.
        prepared: The plan.
        confirmation: The answer to it, which holds for every time.
        printer: Prints what each time came to.

    Raises:
        StreamopsError: It was not confirmed, or there is no going on.
    """
    standing = _RecurringRun(session, again, confirmation, printer)
    return session.run(lambda console: standing.go_on(console, prepared))


class _RecurringRun:
    def __init__(
        self, session: Session, again: Again, confirmation: Confirmation, printer: ActingPrinter
    ) -> None:
        self._session = session
        self._again = again
        self._assent = confirmation
        self._printer = printer
        self._told = timedelta(0)

    async def go_on(self, console: "Console", first: "Prepared[Any, Any]") -> ExitCode:
        """Apply it until it is stopped."""
        prepared: Prepared[Any, Any] | None = first
        with stopped_by_ctrl_c() as stop:
            while not stop.is_set():
                try:
                    await self._apply(console, prepared or await self._again(console), stop)
                except StreamopsError as error:
                    if not _passes(error):
                        raise
                    await self._wait(error, stop)
                prepared = None
        return ExitCode.DONE

    async def _apply(self, console: "Console", prepared: "Prepared[Any, Any]", stop: asyncio.Event) -> None:
        self._told = timedelta(0)
        try:
            outcome = await console.apply(prepared, self._assent, self._note_progress, stop=stop)
        except ApplyError as error:
            if isinstance(error.outcome, Outcome):
                self._printer.print_outcome(prepared.plan, error.outcome)
            raise
        self._printer.print_outcome(prepared.plan, outcome)

    async def _wait(self, error: StreamopsError, stop: asyncio.Event) -> None:
        self._session.narrator.note(f"{error.message}; trying again")
        with suppress(TimeoutError):
            async with asyncio.timeout(RETRY):
                await stop.wait()

    def _note_progress(self, progress: Progress) -> None:
        if progress.elapsed >= self._told:
            self._told = progress.elapsed + NOTE_EVERY
            self._session.narrator.note(f"{progress.done:,} entries seen to so far")


def _passes(error: StreamopsError) -> bool:
    """Whether it may be better by and by: no answer, or another state, of which a new plan is made."""
    cause = error.__cause__ if isinstance(error, ApplyError) else error
    return isinstance(cause, Unreachable | StalePlan)
