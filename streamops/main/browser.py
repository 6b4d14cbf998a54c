"""``streamops tui --web``: the console in a browser."""

import asyncio
import secrets
import shlex
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from streamops.cli.session import Session
from streamops.errors import ExitCode, SettingsError
from streamops.service.addresses import is_loopback, parse_listen
from streamops.service.processes import module_command

if TYPE_CHECKING:
    from streamops.tui.web.server import ConsoleServer

LISTEN: Final = "127.0.0.1:9645"
TOKEN_BYTES: Final = 32


def serve_console(session: Session, *, listen: str | None, allow_writing: bool) -> int:
    """Serve it until a signal stops it.

    Raises:
        SettingsError: Settings cannot be understood, the address is no loopback or taken, or textual-serve is not installed.
    """
    host, port = _address(listen or LISTEN)
    # A wrong configuration is told here, and not to a tab.
    _ = session.settings
    try:
        from streamops.tui.web.server import ConsoleServer  # noqa: PLC0415 - an optional extra, and aiohttp
    except ImportError:
        raise SettingsError(
            "the console in a browser needs textual-serve, which is not installed",
            "pip install 'streamops[web]'; or open the console in a terminal: ssh -t HOST streamops tui",
        ) from None
    command, environment = _command(session, read_only=not allow_writing)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    server = ConsoleServer(shlex.join(command), host, port, token=token, environment=environment)
    session.configure_logs("text", "warning")
    asyncio.run(_serve(session, server, token, read_only=not allow_writing))
    return ExitCode.DONE


async def _serve(session: Session, server: "ConsoleServer", token: str, *, read_only: bool) -> None:
    from streamops.service.signals import stopped_by_signals  # noqa: PLC0415 - as above

    with (
        suppress(asyncio.CancelledError),
        stopped_by_signals(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as stop,
    ):
        async with server.serving() as port:
            host = f"[{server.host}]" if ":" in server.host else server.host
            # What stands behind the # no browser sends to anybody, and no log has.
            click.echo(f"http://{host}:{port}/#{token}")
            session.narrator.note(
                "Open this in a browser of this machine; the address alone gives access to the console"
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


def _command(session: Session, *, read_only: bool) -> tuple[list[str], dict[str, str]]:
    """What runs the console of a tab, and what its environment has beside this process's.

    A URL may hold a password: it goes where no list of processes shows it.
    """
    given, environment = session.given, {}
    command = module_command("streamops", "tui")
    if given.url is not None:
        environment = {"STREAMOPS_URL": given.url, "STREAMOPS_CONTEXT": ""}
    elif given.context is not None:
        command += ["--context", given.context]
    if given.timeout is not None:
        command += ["--timeout", str(given.timeout)]
    if given.no_color:
        command.append("--no-color")
    if read_only or given.read_only:
        command.append("--read-only")
    return command, environment
