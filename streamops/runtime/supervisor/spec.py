"""What a supervisor tells a worker process, and what that reports back: JSON, a line each, through pipes."""

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
"""How long after its handlers' grace a process may go on."""


class WorkerSpec(Struct, frozen=True, kw_only=True):
    """What a worker process is to do; the first line of its standard input, whose end means that its parent is gone.

    Attributes:
        app: The application: ``package.module:app``.
        worker: How its worker lives.
        connection: The server instead of the application's own; none for that.
        names: The queues of the context that names the server, which the application's own must not contradict; none
            where no context does.
        fallback: The server of the default context, and its queues, for an application that names no server; None if
            there is no such context, or ``connection`` says it.
        concurrency: How much each handler does at once, instead of what it declares; none for that.
        only: The handlers that work, by their names or streams; all if none is named.
        exclude: Those that do not.
        until_idle: Whether it ends once nothing has been left to do for a moment.
        max_jobs: After how many calls the process is replaced by a fresh one; none for never.
        max_memory: The same for bytes of resident memory.
        log_format: How its log looks.
        log_level: From which of ``logging``'s levels on.
        report_fd: The file descriptor to report to.
        tell_connection: Whether to report which server the application itself names.
        tell_directories: Whether to report where the application's modules were found.
        module: What a process runs; further modules call ``run_child``.
        task: What such a module needs to know besides, as JSON can hold it.
        sockets: File descriptors of listening sockets: each place has one, which its processes inherit.
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
    """Why a process ended of itself: it asks for a successor, or all are to end."""

    MAX_JOBS = "max-jobs"
    MAX_MEMORY = "max-memory"
    IDLE = "idle"


class StartFailure(Struct, frozen=True):
    """Why a process could not begin.

    Attributes:
        message: One line of what is wrong.
        hint: One line of what to do.
        exit_code: What the program should end with.
    """

    message: str
    hint: str
    exit_code: int


class WorkerReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a worker process tells, once a second and when something changes.

    Attributes:
        worker_id: Its ID.
        state: What it is doing.
        figures: What it did.
        memory: Its resident memory in bytes; zero if that is not known.
        recycled: Why it ended of itself; None if it did not.
        failure: Why it could not begin; None if it could.
        connection: The server that the application names, once, if that was asked for.
        directories: Where its modules were found, likewise.
        asked: How often it was asked by then.
        counters: What else it counts, by name: the parent adds these up, over all processes there ever were.
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
    """Orders as a line; the password is in it, and goes through a pipe only."""
    return msgspec.json.encode(spec, enc_hook=_reveal) + b"\n"


def decode_spec(line: bytes) -> WorkerSpec:
    """Orders from a line."""
    return msgspec.json.decode(line, type=WorkerSpec, dec_hook=_conceal)


def encode_report(report: WorkerReport) -> bytes:
    """A report as a line; a password may be in it, as in orders."""
    return msgspec.json.encode(report, enc_hook=_reveal) + b"\n"


def decode_report(line: bytes) -> WorkerReport:
    """A report from a line."""
    return msgspec.json.decode(line, type=WorkerReport, dec_hook=_conceal)


def grace_of(spec: WorkerSpec) -> timedelta:
    """How long a process may take to drain before it is ended."""
    return spec.worker.grace + MARGIN


def _reveal(value: Any) -> str:  # noqa: ANN401 - what msgspec cannot encode by itself
    if isinstance(value, Secret):
        return value.reveal()
    raise NotImplementedError(f"a {type(value).__name__} in orders or reports")


def _conceal(kind: type, value: Any) -> Any:  # noqa: ANN401 - what msgspec cannot decode by itself
    if kind is Secret:
        return Secret(value)
    raise NotImplementedError(f"a {kind.__name__} in orders or reports")
