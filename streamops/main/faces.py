"""The commands that put rooms together which do not know each other: the console, and the demo under it."""

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource
from msgspec.structs import replace

from streamops.cli.command import Command
from streamops.cli.globals import Output
from streamops.cli.session import Session, wait_for, with_session
from streamops.model.acting import Environment
from streamops.settings.actors import actor_of, this_actor
from streamops.settings.contexts import ContextSummary, list_contexts
from streamops.settings.load import Settings, load_settings

if TYPE_CHECKING:
    from streamops.model.observation import Observation
    from streamops.operate.console import Console
    from streamops.tui.source import TuiSettings

DEFAULT_SECONDS: Final = 10.0
READINGS_APART: Final = timedelta(seconds=1)
DEMO: Final = "demo"


@click.command(
    cls=Command,
    short_help="Open the console in the terminal.",
    examples=[
        ("streamops tui", "the context in use"),
        ("streamops tui --url redis://cache:6379/0", "another server"),
        ("streamops tui --read-only", "look, and change nothing"),
    ],
)
@with_session
def tui(session: Session) -> int:
    """Open the console in the terminal: live streams and groups, consumers, pending entries, entries.

    Capitals open plans of what can be done to the row under the cursor; nothing is done before a plan was
    shown and agreed to, and nothing at all with --read-only. Press ? inside for its keys.
    """
    # Textual takes longer to import than everything else together.
    from streamops.tui.app import run  # noqa: PLC0415

    return run(_tui_settings(session))


@click.command(
    cls=Command,
    short_help="Look at a live sample workload; needs no Redis.",
    examples=[
        ("streamops demo", "the console on a live sample"),
        ("streamops demo --seconds 5 -o json", "no console: the status after five seconds"),
    ],
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=DEFAULT_SECONDS,
    show_default=True,
    metavar="N",
    help="Without a terminal: run so long, then print the status.",
)
@with_session
def demo(session: Session, *, seconds: float) -> int:
    """Start an embedded server with a live sample workload and open the console on it.

    Where stdout is no terminal, or where --seconds or --output is given, print the status instead. Server
    and workload end with this command, and nothing is kept.
    """
    given = click.get_current_context().get_parameter_source("seconds") is ParameterSource.COMMANDLINE
    if given or session.given.output is not Output.TABLE or not sys.stdout.isatty():
        return _print_demo(session, seconds)
    return wait_for(_demo_console(read_only=session.flags.read_only is True))


def _tui_settings(session: Session) -> "TuiSettings":
    from streamops.tui.source import ContextInfo, TuiSettings  # noqa: PLC0415 - see tui()

    settings = session.settings
    address = settings.connection.label
    name = settings.context or settings.connection.short_name
    current = ContextInfo(
        name,
        settings.environment,
        address,
        url="" if settings.context else address,
        read_only=settings.read_only,
    )
    contexts = [
        ContextInfo(
            context.name,
            context.environment,
            context.label,
            read_only=_is_read_only(settings, context),
        )
        for context in list_contexts(session.flags, os.environ, Path.cwd())
        if not context.problem
    ]

    async def open_source(wanted: str) -> "Console":
        if wanted == name:
            return await _open_console(settings)
        flags = replace(session.flags, context=wanted, url=None)
        # It may run a program that asks for a password: the screen must not freeze meanwhile.
        return await _open_console(await asyncio.to_thread(load_settings, flags, os.environ, Path.cwd()))

    return TuiSettings(
        context=current,
        contexts=tuple(contexts) if settings.context else (current, *contexts),
        open_source=open_source,
        every=settings.console.refresh,
        theme=settings.console.theme or "dark",
    )


def _is_read_only(settings: Settings, context: ContextSummary) -> bool:
    """Whether nothing would be changed in a context: what was stated for this run wins over its configuration."""
    stated = settings.origins.get("read_only") in {"--read-only", "STREAMOPS_READ_ONLY"}
    return settings.read_only if stated else context.read_only


async def _open_console(settings: Settings) -> "Console":
    from streamops.operate.console import Console  # noqa: PLC0415 - redis-py is for commands that connect

    return await Console.open(
        settings.connection,
        settings.watch,
        settings.thresholds,
        actor=actor_of(settings),
        read_only=settings.read_only,
    )


async def _demo_console(*, read_only: bool) -> int:
    from streamops.demo.running import running_demo  # noqa: PLC0415 - see tui()
    from streamops.operate.console import Console  # noqa: PLC0415 - the same
    from streamops.tui.app import StreamopsApp  # noqa: PLC0415 - the same
    from streamops.tui.source import ContextInfo, TuiSettings  # noqa: PLC0415 - the same
    from streamops.tui.terminal import require_terminal  # noqa: PLC0415 - the same

    require_terminal(sys.stdin, sys.stdout, os.environ)
    async with running_demo() as options:
        context = ContextInfo(
            DEMO, Environment.DEVELOPMENT, options.label, url=options.label, read_only=read_only
        )
        actor = this_actor(DEMO, Environment.DEVELOPMENT, ("--url", options.label))
        app = StreamopsApp(
            TuiSettings(
                context, (context,), lambda _: Console.open(options, actor=actor, read_only=read_only)
            )
        )
        await app.run_async()
    if app.error is not None:
        raise app.error
    return app.return_code or 0


def _print_demo(session: Session, seconds: float) -> int:
    from streamops.cli.commands.status import STATUS_COLUMNS, print_status  # noqa: PLC0415 - see tui()
    from streamops.present.columns import GROUP_DETAIL_COLUMNS  # noqa: PLC0415 - the same

    printer = session.printer(STATUS_COLUMNS, GROUP_DETAIL_COLUMNS)
    observation = wait_for(_watch_demo(session, seconds))
    print_status(printer, observation, session.given.limit)
    return 0


async def _watch_demo(session: Session, seconds: float) -> "Observation":
    """Observe for so long, again and again, so that rates are known at the end."""
    from streamops.demo.running import running_demo  # noqa: PLC0415 - see tui()
    from streamops.operate.console import Console  # noqa: PLC0415 - the same

    async with running_demo() as options, await Console.open(options) as console:
        session.narrator.note(f"the demo runs at {options.label} for {seconds:g} s")
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        await console.discover()
        while (left := end - loop.time()) > 0:
            await console.observe()
            await asyncio.sleep(min(left, READINGS_APART.total_seconds()))
        await console.discover()
        return await console.observe()
