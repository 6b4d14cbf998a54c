"""The commands that put rooms together which do not know each other: the console, and the demo under it."""

import asyncio
import os
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import click
from click.core import ParameterSource

from streamops.cli.globals import Output
from streamops.cli.options import command
from streamops.cli.session import Session, wait_for
from streamops.main.consoles import print_keys, server_settings
from streamops.model.acting import Environment
from streamops.model.fields import option
from streamops.settings.load import this_actor

if TYPE_CHECKING:
    from streamops.model.observation import Observation

DEFAULT_SECONDS: Final = 10.0
READINGS_APART: Final = timedelta(seconds=1)
DEMO: Final = "demo"


@command(
    examples=[
        ("streamops tui", "the context in use"),
        ("streamops tui --url redis://cache:6379/0", "another server"),
        ("streamops tui --read-only", "read-only"),
        ("streamops tui --web", "in a browser on this machine, read-only"),
    ],
)
def tui(
    session: Session,
    *,
    keys: Annotated[bool, option("Print the keys and their names for [console] keymap.")] = False,
    web: Annotated[bool, option("Serve the console to browsers of this machine.")] = False,
    listen: Annotated[
        str | None,
        option(
            "Loopback address to listen on; default: 127.0.0.1:9645. Port 0 picks a free one.",
            metavar="HOST:PORT",
        ),
    ] = None,
    allow_writing: Annotated[bool, option("Allow changes from the browser.")] = False,
) -> int:
    """Open the console in the terminal: live streams and groups, consumers, pending entries, entries.

    Capitals plan actions on the row under the cursor; nothing is done before a plan is shown and
    confirmed, and nothing at all with --read-only. Press ? inside for the keys.

    With --web it prints an address with a token, for browsers on this machine only; each tab has its own
    console. It is read-only unless --allow-writing is given.
    """
    _check_needs(
        ("--listen", listen, "--web", web),
        ("--allow-writing", allow_writing, "--web", web),
    )
    if keys:
        return print_keys(session)
    if web:
        from streamops.main.browser import serve_console  # noqa: PLC0415 - it brings aiohttp along

        return serve_console(session, listen=listen, allow_writing=allow_writing)
    # Textual takes longer to import than everything else together.
    from streamops.tui.app import run  # noqa: PLC0415
    from streamops.tui.terminal.output import is_in_browser, require_terminal  # noqa: PLC0415

    in_browser = is_in_browser(os.environ)
    if not in_browser:
        # Before a password is asked for.
        require_terminal(sys.stdin, sys.stdout, os.environ)
    return run(server_settings(session, shows_plans=in_browser))


def _check_needs(*pairs: tuple[str, object, str, object]) -> None:
    for one, stated, other, too in pairs:
        if stated and not too:
            raise click.UsageError(f"{one} needs {other}.")


@command(
    examples=[
        ("streamops demo", "the console on a live sample"),
        ("streamops demo --seconds 5 -o json", "no console: the status after five seconds"),
    ],
)
def demo(
    session: Session,
    *,
    seconds: Annotated[
        float,
        click.FloatRange(min=1),
        option("Without a terminal: run for N seconds, then print the status.", metavar="N"),
    ] = DEFAULT_SECONDS,
) -> int:
    """Start an embedded server with a live sample workload and open the console on it.

    It runs until q. Another terminal reaches its server by the --url in the console's plans and fixes. If
    stdout is not a terminal, or with --seconds or --output, it prints the status instead. Server and workload
    end with this command, and nothing is kept.
    """
    given = click.get_current_context().get_parameter_source("seconds") is ParameterSource.COMMANDLINE
    if given or session.given.output is not Output.TABLE or not sys.stdout.isatty():
        return _print_demo(session, seconds)
    return wait_for(_demo_console(read_only=session.flags.read_only is True))


async def _demo_console(*, read_only: bool) -> int:
    from streamops.demo.running import running_demo  # noqa: PLC0415 - see tui()
    from streamops.operations.console import Console  # noqa: PLC0415 - the same
    from streamops.tui.app import StreamopsApp  # noqa: PLC0415 - the same
    from streamops.tui.source import ContextInfo, TuiSettings  # noqa: PLC0415 - the same
    from streamops.tui.terminal.output import require_terminal  # noqa: PLC0415 - the same

    require_terminal(sys.stdin, sys.stdout, os.environ)
    async with running_demo() as options:
        context = ContextInfo(
            DEMO, Environment.DEVELOPMENT, options.label, url=options.label, read_only=read_only
        )
        actor = this_actor(DEMO, Environment.DEVELOPMENT, ("--url", options.label))
        app = StreamopsApp(
            TuiSettings(
                context,
                (context,),
                lambda _: Console.open(options, actor=actor, read_only=read_only),
                guided=True,
            )
        )
        app.fit_colours()
        await app.run_async()
    if app.error is not None:
        raise app.error
    return app.return_code or 0


def _print_demo(session: Session, seconds: float) -> int:
    from streamops.cli.commands.status import print_status  # noqa: PLC0415 - see tui()
    from streamops.cli.reading import group_columns  # noqa: PLC0415 - the same
    from streamops.resources.groups import GROUP_DETAIL_COLUMNS  # noqa: PLC0415 - the same

    printer = session.printer(group_columns(session, rates=True), GROUP_DETAIL_COLUMNS)
    observation = wait_for(_watch_demo(session, seconds))
    print_status(printer, observation, session.given.limit)
    return 0


async def _watch_demo(session: Session, seconds: float) -> "Observation":
    """Observe for so long, again and again, so that rates are known at the end."""
    from streamops.demo.running import running_demo  # noqa: PLC0415 - see tui()
    from streamops.operations.console import Console  # noqa: PLC0415 - the same

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
