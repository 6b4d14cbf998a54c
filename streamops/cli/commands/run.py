"""``streamops run``: worker processes under a supervisor."""

import asyncio
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import click
from msgspec.structs import replace

from streamops.cli.options import command
from streamops.cli.params import ADDRESS, SIZE, LogFormat, ParsedType
from streamops.cli.session import Session, reload_on_change, wait_for
from streamops.errors import ExitCode
from streamops.model.fields import argument, option
from streamops.settings.load import Settings, load_settings

if TYPE_CHECKING:
    from streamops.runtime.supervisor.spec import WorkerSpec
    from streamops.runtime.supervisor.supervisor import Supervisor

AUTO: Final = 0
_MOST_WORKERS: Final = 1024


def _workers(text: str) -> int:
    """A number of processes; ``AUTO`` for as many as the pool is told."""
    if text == "auto":
        return AUTO
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_WORKERS:
        raise ValueError(f"{text!r} is no number of workers. Write 4, or auto.")
    return int(text)


@command(
    examples=[
        ("streamops run shop.workers:app", "one worker process"),
        (
            "streamops run shop.workers:app --workers auto --metrics 127.0.0.1:9642",
            "as many as `pools scale` asks for, one a core before that; with metrics",
        ),
        ("streamops run shop.workers:app --reload", "for development: with the code that was saved last"),
        (
            "streamops run shop.workers:app --only orders --until-idle",
            "process the backlog of orders, from cron",
        ),
        ("streamops run shop.workers:app --max-memory 300mb --max-jobs 100000", "replaced before they grow"),
    ],
    exits={
        0: "stopped by a signal, or idle, and drained",
        1: "every worker keeps crashing",
        2: "usage or configuration; the application does not import, no such handler",
        130: "a second signal: ended without draining",
    },
)
def run(
    session: Session,
    *,
    app: Annotated[str, argument("", metavar="MODULE:APP")],
    workers: Annotated[
        int,
        ParsedType("workers", _workers),
        option(
            "Worker processes; auto: the pool's worker count (`pools scale`, `autoscale run`), one per core until it is set.",
            metavar="N|auto",
        ),
    ] = 1,
    concurrency: Annotated[
        int | None,
        click.IntRange(min=1, max=10_000),
        option("Entries that each handler processes at once, overriding its own setting."),
    ] = None,
    pool: Annotated[str, option("The pool of these workers.", metavar="NAME")] = "default",
    metrics: Annotated[
        tuple[str, int] | None,
        ADDRESS,
        option("Serve metrics and health probes for all processes here.", metavar="HOST:PORT"),
    ] = None,
    only: Annotated[
        tuple[str, ...],
        option("Run only this handler, by its name or one of its streams; repeatable.", metavar="NAME"),
    ] = (),
    exclude: Annotated[
        tuple[str, ...], option("Run all handlers but this one; repeatable.", metavar="NAME")
    ] = (),
    until_idle: Annotated[
        bool, option("Exit once nothing is unread or in flight; delayed messages stay.")
    ] = False,
    reload: Annotated[
        bool,
        option(
            "For development: reload when a .py file of the application, or a configuration file, changes."
        ),
    ] = False,
    max_jobs: Annotated[
        int | None, click.IntRange(min=1), option("Restart a process after N handler calls.")
    ] = None,
    max_memory: Annotated[
        int | None,
        SIZE,
        option("Restart a process that uses more memory than this: 300mb is 300 MiB.", metavar="SIZE"),
    ] = None,
    grace: Annotated[
        timedelta, option("Time that handlers get to finish after SIGTERM or Ctrl-C.")
    ] = timedelta(seconds=30),
    beat: Annotated[timedelta, option("Heartbeat interval.")] = timedelta(seconds=5),
    log_format: LogFormat = "text",
) -> ExitCode:
    """Run the handlers of an application in worker processes, until a signal stops it.

    A process that crashes is restarted, with backoff. SIGTERM or Ctrl-C: no more entries are read, those not
    started are released, handlers finish, acknowledgements are sent; a second signal ends at once, and other
    workers process again what was not finished. SIGHUP reloads the configuration and replaces one process
    after another, with the code on disk; an invalid configuration changes nothing.

    The server is the one that the application names, unless --url, --context or their environment variables name
    another; if none does, the default context's. Workers use dead_letters and delayed of the context; an application
    that names other queues is refused.
    """
    # Only who runs workers pays for them.
    from streamops.runtime.supervisor.spec import WorkerSpec  # noqa: PLC0415
    from streamops.runtime.worker import WorkerOptions  # noqa: PLC0415
    from streamops.service import processes  # noqa: PLC0415

    orders = WorkerSpec(
        app=app,
        worker=WorkerOptions(pool=pool, app=app, beat=beat, grace=grace),
        concurrency=concurrency,
        only=only,
        exclude=exclude,
        until_idle=until_idle,
        max_jobs=max_jobs,
        max_memory=max_memory,
        log_format=processes.LogFormat(log_format),
        log_level=session.configure_logs(log_format),
    )
    return wait_for(_supervise(orders, workers, metrics, session, watch=reload))


def _configured(orders: "WorkerSpec", settings: Settings, *, named: bool) -> "WorkerSpec":
    """The orders with the server and the queues of the settings.

    Args:
        orders: The orders.
        settings: The settings.
        named: Whether the user named the server, which goes before the application's own.
    """
    from streamops.runtime.context import Names  # noqa: PLC0415 - as above

    queues = Names(settings.watch.dead_letters, settings.watch.delayed) if settings.context else None
    return replace(
        orders,
        connection=settings.connection if named else None,
        names=queues if named else None,
        fallback=(settings.connection, queues) if queues and not named else None,
    )


async def _supervise(
    orders: "WorkerSpec", workers: int, metrics: tuple[str, int] | None, session: Session, *, watch: bool
) -> ExitCode:
    from streamops.runtime.supervisor.supervisor import Supervisor  # noqa: PLC0415 - as above

    named = _names_server(session)

    def renew() -> "WorkerSpec":
        return _configured(orders, load_settings(session.flags, os.environ, Path.cwd()), named=named)

    first = _configured(orders, session.settings, named=named)
    supervisor = Supervisor(first, workers or None, default_workers=_cores(), watch=watch, renew=renew)
    if watch:
        watching = asyncio.create_task(reload_on_change())
        try:
            return await _serve(supervisor, metrics, session)
        finally:
            watching.cancel()
    return await _serve(supervisor, metrics, session)


async def _serve(supervisor: "Supervisor", metrics: tuple[str, int] | None, session: Session) -> ExitCode:
    """Run, with metrics where an address is given for them."""
    if metrics is None:
        return await supervisor.run()

    from streamops.runtime.metrics import WorkerCollector, serving  # noqa: PLC0415 - aiohttp, only if it serves

    host, port = metrics
    endpoint = serving(
        host,
        port,
        WorkerCollector(lambda: supervisor.processes.figures),
        healthy=lambda: supervisor.processes.healthy,
        ready=lambda: supervisor.processes.ready,
    )
    async with endpoint as chosen:
        session.narrator.note(f"metrics at http://{host}:{chosen}/metrics, probes at /-/ready and /-/healthy")
        return await supervisor.run()


def _names_server(session: Session) -> bool:
    """Whether the user named a server, by option or by environment."""
    given = session.given
    return bool(
        given.url or given.context or os.environ.get("STREAMOPS_URL") or os.environ.get("STREAMOPS_CONTEXT")
    )


def _cores() -> int:
    """How many processor cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
