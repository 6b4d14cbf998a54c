"""``streamops autoscale run``. The command line and the autoscaler do not know each other; this does."""

import asyncio
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from streamops.cli.options import command
from streamops.cli.session import Session
from streamops.errors import ExitCode
from streamops.main.controllers import (
    LEAN,
    ControllerFlags,
    options_of,
    require_writes,
    work_until,
)
from streamops.main.controllers import run as run_loop
from streamops.model.fields import option

if TYPE_CHECKING:
    from streamops.autoscaling.decisions import ControllerOptions


@command(
    examples=[
        ("streamops autoscale run", "every pool of the configuration, [pools.NAME]"),
        ("streamops autoscale run billing --advise", "print decisions for one pool without applying them"),
        (
            "streamops autoscale run shop --stream orders --group billing --maximum 8",
            "without any configuration",
        ),
    ],
    exits={0: "stopped by a signal", 2: "usage or configuration; no such pool", 3: "cannot connect"},
)
def run(
    session: Session,
    *,
    flags: ControllerFlags,
    advise: Annotated[bool, option("Print decisions without applying them.")] = False,
    once: Annotated[bool, option("Evaluate once (two readings) and exit.")] = False,
) -> int:
    """Scale pools automatically by their lag, until a signal stops it.

    Every few seconds it reads the lag, the rates and the workers of each pool, decides by the policy that
    `pools simulate` evaluates, sets the target's worker count, and records the reason. `pools explain POOL`
    shows the last decisions and what would change them.

    One controller leads a pool; others stand by and take over when its lease expires. It never scales down on
    an unknown lag and never beyond the limits; a failing target is retried with backoff.
    """
    require_writes(session)
    options = options_of(session, flags, advise=advise)
    session.configure_logs(flags.log_format)
    run_loop(_control(session, options, once=once))
    return ExitCode.DONE


async def _control(session: Session, options: "ControllerOptions", *, once: bool) -> None:
    from streamops.autoscaling.controller import Controller  # noqa: PLC0415 - as above
    from streamops.service.signals import stopped_by_signals  # noqa: PLC0415

    settings = session.settings
    from streamops.operations.console import Console  # noqa: PLC0415
    from streamops.settings.load import actor_of  # noqa: PLC0415

    console = await Console.open(
        settings.connection,
        LEAN,
        settings.tables.health,
        actor=actor_of(settings),
        read_only=settings.read_only,
        find_target=session.find_target,
    )
    async with console:
        controller = Controller(console, options)
        if once:
            await controller.round()
            await asyncio.sleep(options.every.total_seconds())
            await controller.round()
            await controller.leave()
            return
        with suppress(asyncio.CancelledError), stopped_by_signals(signal.SIGTERM, signal.SIGINT) as stop:
            await work_until(stop, controller.run())
