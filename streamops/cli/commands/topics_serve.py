"""``streamops webhooks serve``: messages called back, and taken in, by worker processes."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import click

from streamops.cli.options import command
from streamops.cli.params import ADDRESS, SIZE, LogFormat
from streamops.cli.session import Session, reload_on_change, wait_for
from streamops.errors import ExitCode, Forbidden, SettingsError, StreamopsError
from streamops.model.fields import option
from streamops.service.addresses import is_loopback
from streamops.settings.topics import Ingest, load_ingest

if TYPE_CHECKING:
    import socket

    from streamops.runtime.supervisor.spec import WorkerSpec

LOOK_EVERY: Final = 0.05


@command(
    examples=[
        (
            "streamops webhooks serve",
            "all topics of the context in use, and of the contexts that topics name",
        ),
        (
            "streamops webhooks serve --workers 2 --metrics 127.0.0.1:9645",
            "two processes at one port, with metrics of both",
        ),
        ("streamops webhooks serve --no-intake --calls 256", "calls alone, more of them at once"),
        ("streamops webhooks serve --also eu --also us", "topics kept in these contexts' Redis too"),
        (
            "streamops webhooks serve --log-level info --log-format json --log-bodies 64kb",
            "each request and call in a log that `webhooks recover` reads",
        ),
    ],
    exits={
        1: "failed; cannot listen at the address; every worker keeps crashing",
        4: "refused: read-only",
        130: "a second signal: ended without draining",
    },
)
def serve(
    session: Session,
    *,
    also: Annotated[tuple[str, ...], option("Also serve the topics of this context.", metavar="NAME")] = (),
    workers: Annotated[
        int, click.IntRange(min=1, max=64), option("Worker processes, which share the port.")
    ] = 1,
    listen: Annotated[
        str | None, option("Listen address of the HTTP ingest; default: [intake].", metavar="HOST:PORT")
    ] = None,
    no_intake: Annotated[bool, option("Do not accept messages.")] = False,
    no_callbacks: Annotated[bool, option("Do not call webhooks.")] = False,
    calls: Annotated[
        int,
        click.IntRange(min=1, max=10_000),
        option("Concurrent calls, all topics and workers together, shared by priority."),
    ] = 64,
    grace: Annotated[
        timedelta, option("Time that calls in flight get to finish after SIGTERM or Ctrl-C.")
    ] = timedelta(seconds=30),
    reload: Annotated[
        bool, option("Replace the workers whenever a configuration file changes, as SIGHUP does.")
    ] = False,
    metrics: Annotated[
        tuple[str, int] | None,
        ADDRESS,
        option("Serve metrics and health probes for all workers here.", metavar="HOST:PORT"),
    ] = None,
    log_format: LogFormat = "text",
    log_bodies: Annotated[
        int | None,
        SIZE,
        option(
            "With --log-level info, log bodies too, up to this many bytes of each, secrets redacted.",
            metavar="SIZE",
        ),
    ] = None,
) -> ExitCode:
    """Send due messages of topics to their URLs, and accept messages over HTTP, until a signal stops it.

    Topics are in the configuration, or in Redis, where changes take effect within a second or so. A Redis
    that does not answer affects its own topics alone. A worker process that crashes is restarted. SIGTERM or
    Ctrl-C: no more messages are accepted, calls in flight finish; a second signal ends at once, and
    unfinished messages are called again. SIGHUP reloads the configuration: one worker after another is
    replaced.
    """
    if no_intake and no_callbacks:
        raise click.UsageError("--no-intake and --no-callbacks together leave nothing to do")
    if session.settings.read_only:
        raise Forbidden(
            "read-only: it would accept and call messages", "Choose another context, or lift read_only."
        )
    intake = None if no_intake else load_ingest(os.environ, Path.cwd(), listen)
    if intake is not None and not is_loopback(intake.host):
        session.narrator.note(f"warning: tokens come in the clear at {intake.host}: put TLS in front of it")

    # Only commands that serve pay for aiohttp.
    from streamops.cli.commands.topics_worker import MODULE, ServeTask  # noqa: PLC0415
    from streamops.runtime.supervisor.spec import WorkerSpec  # noqa: PLC0415
    from streamops.runtime.worker import WorkerOptions  # noqa: PLC0415
    from streamops.service import processes  # noqa: PLC0415

    level = session.configure_logs(log_format, "warning")
    listeners = [] if intake is None else _listeners(intake, workers)
    spec = WorkerSpec(
        app="webhooks",
        worker=WorkerOptions(app="webhooks", grace=grace),
        log_format=processes.LogFormat(log_format),
        log_level=level,
        module=MODULE,
        task=ServeTask(
            flags=session.flags,
            also=also,
            listen=listen if listeners else None,
            calls=0 if no_callbacks else calls,
            workers=workers,
            log_bodies=log_bodies,
        ),
        sockets=tuple(listener.fileno() for listener in listeners),
    )
    taken = (
        f"messages are accepted at {intake.host}:{listeners[0].getsockname()[1]}"
        if intake and listeners
        else ""
    )
    note = f"{taken or 'no messages are accepted'}; webhooks are {'not ' if no_callbacks else ''}called"
    return wait_for(_supervise(session, spec, workers, listeners, metrics=metrics, note=note, watch=reload))


def _listeners(intake: Ingest, workers: int) -> list["socket.socket"]:
    """A socket for each worker, all at one port: while a worker is replaced, connections wait in its queue."""
    from streamops.service.listening import bind  # noqa: PLC0415 - as above

    try:
        # Sockets that share a port would share it with those of another service, too, which this one does not.
        alone = bind(intake.host, intake.port)
        if workers == 1:
            return [alone]
        port = alone.getsockname()[1]
        alone.close()
        return [bind(intake.host, port, reuse_port=True) for _ in range(workers)]
    except SettingsError as error:
        problem = StreamopsError(error.message, error.hint)
    raise problem


async def _supervise(
    session: Session,
    spec: "WorkerSpec",
    workers: int,
    listeners: Sequence["socket.socket"],
    *,
    metrics: tuple[str, int] | None,
    note: str,
    watch: bool,
) -> ExitCode:
    from streamops.runtime.metrics import serving  # noqa: PLC0415 - as above
    from streamops.runtime.supervisor.supervisor import Supervisor  # noqa: PLC0415
    from streamops.webhooks.metrics import TopicCollector  # noqa: PLC0415

    supervisor = Supervisor(spec, workers)
    processes = supervisor.processes

    async def attend() -> None:
        while not processes.was_ready:  # noqa: ASYNC110 - the supervisor notices it the same way
            await asyncio.sleep(LOOK_EVERY)
        session.narrator.note(note)
        await processes.ending.wait()
        for listener in listeners:
            # Connections are refused from now on: none may wait in a queue that no worker reads.
            listener.close()

    async with AsyncExitStack() as stack:
        if metrics is not None:
            host, port = metrics
            collector = TopicCollector(lambda: processes.counters)
            endpoint = serving(
                host,
                port,
                collector,
                healthy=lambda: processes.healthy,
                ready=lambda: processes.ready,
            )
            chosen = await stack.enter_async_context(endpoint)
            session.narrator.note(
                f"metrics at http://{host}:{chosen}/metrics, probes at /-/ready and /-/healthy"
            )
        attending = asyncio.create_task(attend())
        stack.callback(attending.cancel)
        if watch:
            watching = asyncio.create_task(reload_on_change())
            stack.callback(watching.cancel)
        return await supervisor.run()
