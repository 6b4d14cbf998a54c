"""``python -m streamops.cli.commands.topics_worker``: one process of ``streamops webhooks serve``.

It reads the configuration itself, so that its successor after a SIGHUP has the topics of that moment.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from streamops.model.pools import WorkerState
from streamops.model.secret import Secret
from streamops.model.topics import HERE
from streamops.runtime.context import Names
from streamops.runtime.supervisor.child import Channel, listen_to_parent, run_child
from streamops.runtime.supervisor.spec import REPORT_EVERY, WorkerReport, WorkerSpec
from streamops.settings.load import Flags
from streamops.settings.topics import TopicSettings, load_ingest, load_topics
from streamops.webhooks.breaker import BreakerOptions
from streamops.webhooks.callback import HostOptions
from streamops.webhooks.calling import CallerOptions
from streamops.webhooks.ingest import IngestOptions
from streamops.webhooks.metrics import TopicCounters
from streamops.webhooks.registry import Site
from streamops.webhooks.request_log import RequestLog
from streamops.webhooks.service import ListenOptions, ServiceOptions, serve

MODULE: Final = "streamops.cli.commands.topics_worker"


class ServeTask(Struct, frozen=True, kw_only=True):
    """What each process serves.

    Attributes:
        flags: What the command line says of contexts.
        also: Further contexts.
        listen: The address of HTTP ingest, in place of the configuration's.
        calls: Calls at once, of all processes; zero to call none.
        workers: The number of processes.
        log_bodies: Bytes of a body that the log shows; none for no body.
    """

    flags: Flags
    also: tuple[str, ...]
    listen: str | None
    calls: int
    workers: int
    log_bodies: int | None


def begin(spec: WorkerSpec, channel: Channel, stdin: int, asked: int) -> Coroutine[Any, Any, None]:
    """The work of this process.

    Raises:
        StreamopsError: The configuration makes no sense.
    """
    task = msgspec.convert(spec.task, ServeTask)
    loaded = load_topics(task.flags, os.environ, Path.cwd(), task.also)
    listen = None
    if spec.sockets:
        intake = load_ingest(os.environ, Path.cwd(), task.listen)
        listen = ListenOptions(
            _inherited(spec.sockets[0]),
            IngestOptions(intake.tokens, intake.max_body),
            _share(intake.max_connections, task.workers),
        )
    log = RequestLog(
        enabled=spec.log_level <= logging.INFO,
        bodies=task.log_bodies,
        secrets=_secrets(loaded, listen.intake.tokens if listen else ()),
    )
    return _TopicWorker(spec, channel, asked).run(_options(task, loaded, listen, spec), log, stdin)


class _TopicWorker:
    """This process, as it reports to its parent."""

    def __init__(self, spec: WorkerSpec, channel: Channel, asked: int) -> None:
        self._id = f"{spec.app}-{os.getpid()}"
        self._channel = channel
        self._asked = asked
        self._state = WorkerState.STARTING
        self._counters = TopicCounters()
        self._stop = asyncio.Event()

    async def run(self, options: ServiceOptions, log: RequestLog, stdin: int) -> None:
        """Serve until the parent says to stop, or is gone."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stop.set)
        loop.add_signal_handler(signal.SIGINT, self._stop.set)
        listen_to_parent(stdin, loop, self._answer, self._stop.set)
        work = asyncio.ensure_future(serve(options, self._stop, self._started, self._counters, log))
        while not work.done():
            self._report()
            await asyncio.wait([work], timeout=REPORT_EVERY)
        self._report()
        await work

    def _started(self) -> None:
        self._state = WorkerState.RUNNING
        self._report()

    def _answer(self, questions: int) -> None:
        self._asked += questions
        self._report()

    def _report(self) -> None:
        self._channel.send(
            WorkerReport(
                worker_id=self._id, state=self._state, asked=self._asked, counters=self._counters.values
            )
        )


def _options(
    task: ServeTask, loaded: TopicSettings, listen: ListenOptions | None, spec: WorkerSpec
) -> ServiceOptions:
    table = loaded.callbacks
    sites = [
        Site(
            (loaded.settings.context or "") if name == HERE else name,
            context.connection,
            tuple(one.topic for one in loaded.topics if name in one.contexts),
            Names(context.dead_letters, context.delayed),
        )
        for name, context in loaded.contexts.items()
    ]
    return ServiceOptions(
        sites=sites,
        listen=listen,
        calls=_share(task.calls, task.workers),
        hosts=table.hosts,
        deny_private=table.deny_private,
        host=HostOptions(_share(table.per_host, task.workers), BreakerOptions(table.open_after, table.pause)),
        caller=CallerOptions(most_answer=table.max_answer),
        grace=spec.worker.grace,
        given_up_url=table.given_up_url,
        given_up_per_minute=_share(table.given_up_per_minute, task.workers),
    )


def _inherited(descriptor: int) -> socket.socket:
    listener = socket.socket(fileno=descriptor)
    listener.setblocking(False)  # noqa: FBT003 - it takes no name
    return listener


def _share(total: int, workers: int) -> int:
    return -(-total // workers)


def _secrets(loaded: TopicSettings, tokens: tuple[Secret, ...]) -> Iterator[Secret]:
    """What no log line may hold."""
    yield from tokens
    for context in loaded.contexts.values():
        for secret in (context.connection.password, context.connection.sentinel_password):
            if secret is not None:
                yield secret


if __name__ == "__main__":
    sys.exit(run_child(begin))
