"""Running a real server for a test.

A server started here listens on a unix socket and on a loopback port that the kernel chose, keeps its files
in a directory of its own, and ends with the tests however they end: the demo's guard watches it.
"""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

import redis
from msgspec.structs import replace
from redis.backoff import NoBackoff
from redis.retry import Retry

from streamops.service.processes import module_command, module_environment
from streamops.wire.options import ConnectionOptions
from tests.support.programs import ServerProgram

PATIENCE = timedelta(seconds=30)
"""How long a test waits for a reply: longer than a busy machine keeps it waiting."""

_START_ATTEMPTS = 5
_START_SECONDS = 40.0
_STOP_SECONDS = 30.0
_HIGHEST_PORT = 65535
_CLUSTER_BUS_OFFSET = 10_000


class StartError(Exception):
    """A server did not become ready; the text ends with its log."""


class RunningServer:
    """One running server process; ``with`` stops it.

    Attributes:
        program: What is running.
        directory: Its own directory, removed when it stops.
        socket_path: Its unix socket.
        port: Its loopback port: plain, or TLS where it was started with ``tls=True``.
        pid: Its process.
        client: A plain redis-py client of its unix socket, to prepare state with.
    """

    def __init__(self, program: ServerProgram, *args: str, tls: bool = False, sentinel: str = "") -> None:
        """Start a server and wait until it answers.

        Args:
            program: The binary to run.
            args: Further configuration as on the command line: ``"--maxmemory", "4mb"``.
            tls: Listen with TLS instead of plain TCP; ``args`` name the certificates.
            sentinel: Configuration text; where it is not empty, the process is a Sentinel.

        Raises:
            StartError: It did not answer in time, or ended.
        """
        self.program = program
        self.directory = Path(tempfile.mkdtemp(prefix="streamops-test-"))
        self.socket_path = self.directory / "s"
        self._pid_path = self.directory / "pid"
        self._clients: list[redis.Redis] = []
        self._start(args, tls=tls, sentinel=sentinel)
        self.pid = int(self._pid_path.read_text())
        self.client = self.connect()
        self._raw = self.connect()
        self._raw.response_callbacks.clear()

    @property
    def label(self) -> str:
        """Flavour and minor version: ``redis-6.2``."""
        return self.program.label

    @property
    def url(self) -> str:
        """Its loopback address as ``redis://``."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def unix_url(self) -> str:
        """Its unix socket as ``unix://``."""
        return f"unix://{self.socket_path}"

    @property
    def options(self) -> ConnectionOptions:
        """How streamops reaches it by its unix socket."""
        return ConnectionOptions(addresses=(), socket_path=str(self.socket_path), label=self.unix_url)

    @property
    def patient_options(self) -> ConnectionOptions:
        """The same for who waits as long as a machine may stand still."""
        return replace(self.options, timeout=PATIENCE)

    @property
    def tcp_options(self) -> ConnectionOptions:
        """How streamops reaches it by loopback."""
        return ConnectionOptions(addresses=(("127.0.0.1", self.port),), label=self.url)

    def connect(self, **changes: Any) -> redis.Redis:  # redis-py's own parameters
        """Another plain client of the unix socket, closed when the server stops."""
        parameters: dict[str, Any] = {
            "unix_socket_path": str(self.socket_path),
            "protocol": 2,
            "legacy_responses": False,
            "socket_timeout": PATIENCE.total_seconds(),
            # A test that stops its server wants the error at once.
            "retry": Retry(NoBackoff(), 0),
        }
        client = redis.Redis(**(parameters | changes))
        self._clients.append(client)
        return client

    def command(self, *words: str | bytes | float) -> Any:  # noqa: ANN401  # any RESP value
        """Send one command; its RESP2 reply as it came: bytes, int, list or none.

        Raises:
            redis.RedisError: The server answered with an error.
        """
        return self._raw.execute_command(*words)  # type: ignore[no-untyped-call]

    def commands(self, rows: Iterable[Sequence[str | bytes | float]]) -> list[Any]:
        """Send many commands in one message; their replies, in order."""
        with self._raw.pipeline(transaction=False) as message:
            for words in rows:
                message.execute_command(*words)  # type: ignore[no-untyped-call]
            return message.execute()

    def calls(self, name: str) -> int:
        """How often a command was called, by scripts too; ``xinfo|groups`` is one of a container."""
        told: dict[str, dict[str, int]] = self.client.info("commandstats")
        return told.get(f"cmdstat_{name}", {}).get("calls", 0)

    def flush(self) -> None:
        """Drop every key of every database."""
        self.command("FLUSHALL")

    def forget_users(self) -> None:
        """Remove every user that a test made: the next one may make another by the same name."""
        made = [user for user in self.command("ACL", "USERS") if user != b"default"]
        if made:
            self.command("ACL", "DELUSER", *made)

    def pause(self) -> None:
        """Stop answering without closing anything; ``resume`` goes on."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Answer again after ``pause``."""
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End the process without a farewell; ``stop`` still cleans up."""
        os.kill(self.pid, signal.SIGKILL)
        self._end()

    def restart(self) -> None:
        """Start it again where it was, after ``kill``.

        Its own directory is gone: what it is to know again, it keeps in a ``--dir`` of the test's.
        """
        with tempfile.TemporaryFile() as log:
            self._guard = self._spawn(self._command, log)
            self._wait_ready(log)
        self.pid = int(self._pid_path.read_text())
        for client in self._clients:
            client.connection_pool.disconnect()

    def stop(self) -> None:
        """End the process, close the clients handed out and remove the directory; twice is harmless."""
        for client in self._clients:
            client.close()
        if self._guard.poll() is None:
            self.resume()
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _start(self, args: Sequence[str], *, tls: bool, sentinel: str) -> None:
        for attempt in range(_START_ATTEMPTS):
            self.port = choose_port(cluster="--cluster-enabled" in args)
            with tempfile.TemporaryFile() as log:
                self._command = self._words(args, tls=tls, sentinel=sentinel)
                self._guard = self._spawn(self._command, log)
                try:
                    self._wait_ready(log)
                except BaseException as error:
                    self._end()
                    # Another process may have taken the port between the choice and the bind.
                    if "in use" not in str(error) or attempt == _START_ATTEMPTS - 1:
                        raise
                else:
                    return

    def _words(self, args: Sequence[str], *, tls: bool, sentinel: str) -> list[str]:
        ports = ["--port", "0", "--tls-port"] if tls else ["--port"]
        words = ["--bind", "127.0.0.1", *ports, str(self.port), "--unixsocket", str(self.socket_path)]
        words += ["--dir", str(self.directory), "--pidfile", str(self._pid_path)]
        if not sentinel:
            return [*words, "--save", "", "--appendonly", "no", *args]
        # A Sentinel rewrites its configuration file, so it must have one.
        self.directory.mkdir(exist_ok=True)
        configuration = self.directory / "sentinel.conf"
        configuration.write_text(sentinel)
        return [str(configuration), "--sentinel", *words, *args]

    def _spawn(self, words: Sequence[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
        # Made anew for every attempt, because the guard removes it.
        self.directory.mkdir(exist_ok=True)
        return subprocess.Popen(
            module_command("streamops.demo.watchdog", str(self.directory), str(self.program.path), *words),
            env=module_environment(),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            # A Ctrl-C meant for pytest must not end the server before its tests do.
            start_new_session=True,
        )

    def _wait_ready(self, log: IO[bytes]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not _answers(self.socket_path):
            if self._guard.poll() is not None or time.monotonic() > deadline:
                log.seek(0)
                raise StartError(f"{self.program.path} did not start:\n{log.read().decode(errors='replace')}")
            time.sleep(0.005)

    def _end(self) -> None:
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        self._guard.wait(_STOP_SECONDS)


class StartServer(Protocol):
    """What the fixture ``start_server`` hands out."""

    def __call__(self, *args: str, program: ServerProgram | None = None) -> RunningServer:
        """Start a server with further configuration; the newest version unless told."""


class ServerPool:
    """One running server of each version, started when a test first asks for it."""

    def __init__(self) -> None:
        self._running: dict[ServerProgram, RunningServer] = {}

    def flushed(self, program: ServerProgram) -> RunningServer:
        """The server of a version, without keys."""
        if program not in self._running:
            self._running[program] = RunningServer(program)
        server = self._running[program]
        server.flush()
        server.forget_users()
        return server

    def stop(self) -> None:
        """Stop them all."""
        for server in self._running.values():
            server.stop()


def choose_port(*, cluster: bool = False) -> int:
    """A loopback port that is free now, chosen by the kernel; for a cluster node its bus port is free too."""
    while True:
        with socket.socket() as probe, socket.socket() as bus, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
            if not cluster:
                return port
            if port + _CLUSTER_BUS_OFFSET <= _HIGHEST_PORT:
                bus.bind(("127.0.0.1", port + _CLUSTER_BUS_OFFSET))
                return port


def _answers(socket_path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(socket_path))
            probe.sendall(b"PING\r\n")
            reply = probe.recv(64)
        except OSError:
            return False
    return reply.startswith((b"+PONG", b"-NOAUTH", b"-MASTERDOWN"))
