"""What a supervisor sends a worker process, and what that reports: lines of JSON through pipes."""

from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from streamops.model.pools import WorkerState
from streamops.runtime.context import Names
from streamops.runtime.counts import HandlerCounts
from streamops.runtime.worker import WorkerOptions
from streamops.service.processes import LogFormat
from streamops.wire.options import ConnectionOptions, Secret

REPORT_EVERY: Final = 1.0
"""Seconds between a worker process's reports."""
MARGIN: Final = timedelta(seconds=5)
"""How long a process may run on after its handlers' grace."""


class WorkerSpec(Struct, frozen=True, kw_only=True):
    """What a worker process does; the first line of its standard input, whose end means that its parent is gone.

    Attributes:
        app: The application: ``package.module:app``.
        worker: Its worker's options.
        connection: The server; None for the application's own.
        names: The queues of the context that names the server, which the application's own must not contradict; None
            without a context.
        fallback: The server of the default context, and its queues, for an application that names no server; None if
            there is no such context, or ``connection`` names the server.
        concurrency: The concurrency of each handler; None for what it declares.
        only: The handlers that work, by their names or streams; all if empty.
        exclude: The handlers that do not.
        until_idle: Whether it ends once nothing has been left to do for a moment.
        max_jobs: After how many calls the process is replaced; None for never.
        max_memory: The same for bytes of resident memory.
        log_format: The format of its log.
        log_level: The lowest level that it logs, one of ``logging``'s.
        report_fd: The file descriptor of its reports.
        tell_connection: Whether to report which server the application names.
        tell_directories: Whether to report the directories of the application's modules.
        module: The module that the process runs; others than the default call ``run_child``.
        task: What such a module needs besides, as JSON.
        sockets: File descriptors of listening sockets, one for each slot, which its processes inherit.
    """

    app: str
    worker: WorkerOptions
    connection: ConnectionOptions | None = None
    names: Names | None = None
    fallback: tuple[ConnectionOptions, Names] | None = None
    concurrency: int | None = None
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    until_idle: bool = False
    max_jobs: int | None = None
    max_memory: int | None = None
    log_format: LogFormat = LogFormat.TEXT
    log_level: int = 20
    report_fd: int = -1
    tell_connection: bool = False
    tell_directories: bool = False
    module: str = "streamops.runtime.supervisor.child"
    task: Any = None
    sockets: tuple[int, ...] = ()


class Recycled(StrEnum):
    """Why a process ended by itself: the first two ask for a successor; ``IDLE`` ends all."""

    MAX_JOBS = "max-jobs"
    MAX_MEMORY = "max-memory"
    IDLE = "idle"


class StartFailure(Struct, frozen=True):
    """Why a process could not start.

    Attributes:
        message: One line of what is wrong.
        hint: One line of what to do.
        exit_code: The program's exit code.
    """

    message: str
    hint: str
    exit_code: int


class WorkerReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a worker process reports, once a second and on request.

    Attributes:
        worker_id: Its ID.
        state: Its worker's state.
        figures: Its handlers' counts.
        memory: Its resident memory in bytes; zero if that is not known.
        recycled: Why it ended by itself; None if it did not.
        failure: Why it could not start; None if it could.
        connection: The server that the application names, in one report, if the spec asks for it.
        directories: The directories of its modules, likewise.
        asked: How many reports the parent has requested by then.
        counters: Other counters by name; the parent adds them up over all processes, ended ones included.
    """

    worker_id: str = ""
    state: WorkerState = WorkerState.STARTING
    figures: tuple[HandlerCounts, ...] = ()
    memory: int = 0
    recycled: Recycled | None = None
    failure: StartFailure | None = None
    connection: ConnectionOptions | None = None
    directories: tuple[str, ...] = ()
    asked: int = 0
    counters: dict[str, float] = {}


def encode_spec(spec: WorkerSpec) -> bytes:
    """A spec as a line. It holds the password, and is sent through a pipe only."""
    return msgspec.json.encode(spec, enc_hook=_reveal) + b"\n"


def decode_spec(line: bytes) -> WorkerSpec:
    """A spec from a line."""
    return msgspec.json.decode(line, type=WorkerSpec, dec_hook=_conceal)


def encode_report(report: WorkerReport) -> bytes:
    """A report as a line; it may hold a password, as a spec does."""
    return msgspec.json.encode(report, enc_hook=_reveal) + b"\n"


def decode_report(line: bytes) -> WorkerReport:
    """A report from a line."""
    return msgspec.json.decode(line, type=WorkerReport, dec_hook=_conceal)


def grace_of(spec: WorkerSpec) -> timedelta:
    """How long a process may take to drain before it is killed."""
    return spec.worker.grace + MARGIN


def _reveal(value: Any) -> str:  # noqa: ANN401 - what msgspec cannot encode by itself
    if isinstance(value, Secret):
        return value.reveal()
    raise NotImplementedError(f"a {type(value).__name__} in a spec or report")


def _conceal(kind: type, value: Any) -> Any:  # noqa: ANN401 - what msgspec cannot decode by itself
    if kind is Secret:
        return Secret(value)
    raise NotImplementedError(f"a {kind.__name__} in a spec or report")
