"""A command that puts a load on a server: what it will be is said first, and agreed to if the place deserves care."""

import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from streamops.cli.acting.asking import ask, can_ask
from streamops.cli.session import Session
from streamops.errors import Forbidden
from streamops.model.acting import Environment
from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy

Answer = TypeVar("Answer")


def confirm_load(session: Session, command: str, burden: str, *, yes: bool) -> None:
    """Say what a command will put on the server, and ask, unless the context is a development one.

    Args:
        session: The call.
        command: The command's name.
        burden: What it will put there, a line.
        yes: Whether it was agreed to beforehand.

    Raises:
        Forbidden: Read-only, or not agreed to.
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
        raise Forbidden(f"{command}: not agreed to", "Nothing was written. Agree with --yes.")


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
