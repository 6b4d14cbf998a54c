"""``streamops tui --web``: the console in a browser."""

import asyncio
import logging
import os
import secrets
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from streamops.cli.session import Session
from streamops.errors import ExitCode, SettingsError
from streamops.service.addresses import is_loopback, parse_listen
from streamops.service.processes import module_command

if TYPE_CHECKING:
    from streamops.tui.web.server import WebOptions

LISTEN: Final = "127.0.0.1:9645"
TOKEN_BYTES: Final = 32


def serve_console(session: Session, *, listen: str | None, allow_writing: bool) -> int:
    """Serve it until told to stop.

    Raises:
        SettingsError: Settings cannot be understood, or the address is no loopback or taken.
    """
    # Only who serves pays for aiohttp.
    from streamops.service.processes import LogFormat, configure_logs  # noqa: PLC0415
    from streamops.tui.web.server import WebOptions  # noqa: PLC0415

    host, port = _address(listen or LISTEN)
    # A wrong configuration is told here, and not to a tab.
    _ = session.settings
    command, environment = _command(session, read_only=not allow_writing)
    options = WebOptions(
        host=host,
        port=port,
        token=secrets.token_urlsafe(TOKEN_BYTES),
        command=command,
        environment=environment,
    )
    level = session.given.log_level or "warning"
    configure_logs(LogFormat.TEXT, logging.getLevelNamesMapping()[level.upper()])
    asyncio.run(_serve(session, options, read_only=not allow_writing))
    return ExitCode.DONE


async def _serve(session: Session, options: "WebOptions", *, read_only: bool) -> None:
    from streamops.cli.acting.stopping import stopped_by_signals  # noqa: PLC0415 - as above
    from streamops.tui.web.server import serving  # noqa: PLC0415

    with (
        suppress(asyncio.CancelledError),
        stopped_by_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as stop,
    ):
        async with serving(options) as port:
            host = f"[{options.host}]" if ":" in options.host else options.host
            # What stands behind the # no browser sends to anybody, and no log has.
            click.echo(f"http://{host}:{port}/#{options.token}")
            session.narrator.note(
                "Open this in a browser of this machine; whoever has it has the console"
                + (", to look at." if read_only else ", and may change what you may.")
                + " Ctrl-C ends it, and all its tabs."
            )
            await stop.wait()


def _address(written: str) -> tuple[str, int]:
    try:
        host, port = parse_listen(written)
    except SettingsError:
        raise SettingsError("--listen: not HOST:PORT", f"Write {LISTEN}, or [::1]:9645.") from None
    if not is_loopback(host):
        raise SettingsError(
            f"--listen: {host} is no loopback address, and what goes over the net here is not encrypted",
            f"Listen at {LISTEN} and come by ssh -L 9645:{LISTEN} HOST; or run ssh -t HOST streamops tui.",
        )
    return host, port


def _command(session: Session, *, read_only: bool) -> tuple[tuple[str, ...], dict[str, str]]:
    """What runs the console of a tab. A URL may hold a password: it goes where no list of processes shows it."""
    given, environment = session.given, dict(os.environ)
    command = module_command("streamops", "tui")
    if given.url is not None:
        environment["STREAMOPS_URL"] = given.url
        environment.pop("STREAMOPS_CONTEXT", None)
    elif given.context is not None:
        command += ["--context", given.context]
    if given.timeout is not None:
        command += ["--timeout", str(given.timeout)]
    if given.no_color:
        command.append("--no-color")
    if read_only or given.read_only:
        command.append("--read-only")
    return tuple(command), environment
