"""``streamops webhooks serve``: messages called back, and taken in, in this process."""

import asyncio
import logging
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamops.cli.command import Command
from streamops.cli.params import DURATION
from streamops.cli.session import Session, wait_for, with_session
from streamops.errors import Forbidden
from streamops.model.topics import HERE
from streamops.service.addresses import is_loopback
from streamops.settings.topics import TopicSettings, load_ingest, load_topics

if TYPE_CHECKING:
    from streamops.webhooks.service import ListenOptions, ServiceOptions


@click.command(
    cls=Command,
    short_help="Serve topics: call messages back, and take messages in over HTTP.",
    examples=[
        (
            "streamops webhooks serve",
            "all topics of the context in use, and of the contexts that topics name",
        ),
        ("streamops webhooks serve --no-intake --calls 256", "calls alone, more of them at once"),
        ("streamops webhooks serve --also eu --also us", "topics kept in these contexts' Redis too"),
    ],
    exits={1: "failed; the address cannot be listened at", 4: "refused: read-only"},
)
@click.option("--also", metavar="NAME", multiple=True, help="Also serve the topics of this context.")
@click.option("--listen", metavar="HOST:PORT", help="Listen address of the HTTP ingest; default: [intake].")
@click.option("--no-intake", is_flag=True, help="Do not take messages in.")
@click.option("--no-callbacks", is_flag=True, help="Do not call messages back.")
@click.option(
    "--calls",
    metavar="N",
    type=click.IntRange(min=1, max=10_000),
    default=64,
    show_default=True,
    help="Concurrent calls, all topics together, shared by priority.",
)
@click.option(
    "--grace",
    metavar="SPAN",
    type=DURATION,
    default="30s",
    show_default=True,
    help="How long calls under way may go on after SIGTERM or Ctrl-C.",
)
@with_session
def serve(
    session: Session,
    *,
    also: Sequence[str],
    listen: str | None,
    no_intake: bool,
    no_callbacks: bool,
    calls: int,
    grace: timedelta,
) -> None:
    """Call the messages of topics back, once they are due, and take messages in over HTTP, until a signal stops it.

    Topics stand in the configuration, or are kept in Redis, where changes are noticed within a second or so. A server
    that is away takes its own topics with it and no others. SIGTERM or Ctrl-C: no more messages are taken, calls
    under way come to their end; a second signal ends at once, and what was not finished is called again. SIGHUP has
    new workers take over, while the former ones end their calls.
    """
    if no_intake and no_callbacks:
        raise click.UsageError("--no-intake and --no-callbacks together leave nothing to do")
    settings = session.settings
    if settings.read_only:
        raise Forbidden(
            "read-only: messages would be taken in and called", "Choose another context, or lift read_only."
        )
    loaded = load_topics(session.flags, os.environ, Path.cwd(), also)
    intake = None if no_intake else load_ingest(os.environ, Path.cwd(), listen)

    # Only who serves pays for aiohttp.
    from streamops.service.processes import LogFormat, configure_logs  # noqa: PLC0415
    from streamops.webhooks.ingest import IngestOptions  # noqa: PLC0415
    from streamops.webhooks.service import ListenOptions  # noqa: PLC0415

    level = session.given.log_level or "warning"
    configure_logs(LogFormat.TEXT, logging.getLevelNamesMapping()[level.upper()])
    listening = None
    if intake is not None:
        if not is_loopback(intake.host):
            session.narrator.note(
                f"warning: tokens come in the clear at {intake.host}: put TLS in front of it"
            )
        listening = ListenOptions(
            intake.host, intake.port, IngestOptions(intake.tokens, intake.max_body), intake.max_connections
        )
    options = _options(loaded, listening, calls=0 if no_callbacks else calls, grace=grace)
    wait_for(_serve(session, options))


def _options(
    loaded: TopicSettings, listen: "ListenOptions | None", *, calls: int, grace: timedelta
) -> "ServiceOptions":
    from streamops.runtime.context import Names  # noqa: PLC0415
    from streamops.webhooks.breaker import BreakerOptions  # noqa: PLC0415
    from streamops.webhooks.callback import HostOptions  # noqa: PLC0415
    from streamops.webhooks.calling import CallerOptions  # noqa: PLC0415
    from streamops.webhooks.registry import Site  # noqa: PLC0415 - as above
    from streamops.webhooks.service import ServiceOptions  # noqa: PLC0415

    table = loaded.callbacks
    sites = [
        Site(
            (loaded.settings.context or "") if name == HERE else name,
            context.connection,
            tuple(one.topic for one in loaded.topics if one.context == name),
            Names(context.dead_letters, context.delayed),
        )
        for name, context in loaded.contexts.items()
    ]
    return ServiceOptions(
        sites=sites,
        listen=listen,
        calls=calls,
        hosts=table.hosts,
        deny_private=table.deny_private,
        host=HostOptions(table.per_host, BreakerOptions(table.open_after, table.pause)),
        caller=CallerOptions(most_answer=table.max_answer),
        grace=grace,
    )


async def _serve(session: Session, options: "ServiceOptions") -> None:
    from streamops.webhooks.service import serve as serve_topics  # noqa: PLC0415 - as above

    def started(port: int | None) -> None:
        host = options.listen.host if options.listen else ""
        taken = f"messages are taken in at {host}:{port}" if port is not None else "no messages are taken in"
        called = "called back" if options.calls else "not called back"
        session.narrator.note(f"{taken}; those of {', '.join(_labels(options))} are {called}")

    with suppress(asyncio.CancelledError), _signals() as (stop, renew):
        await serve_topics(options, stop, started, renew)


def _labels(options: "ServiceOptions") -> list[str]:
    return [site.name or site.options.label for site in options.sites]


@contextmanager
def _signals() -> Iterator[tuple[asyncio.Event, asyncio.Event]]:
    """An event that the first signal to stop sets, the second cancels; and one that SIGHUP sets."""
    stop, renew = asyncio.Event(), asyncio.Event()
    task, loop = asyncio.current_task(), asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, renew.set if number is signal.SIGHUP else on_signal)
    try:
        yield stop, renew
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
