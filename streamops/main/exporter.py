"""``streamops exporter``: metrics for Prometheus. The command line and the exporter do not know each other; this does."""

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import click
from msgspec.structs import replace

from streamops.cli.options import command
from streamops.cli.params import FILE, LogFormat, Patterns
from streamops.cli.session import Session
from streamops.errors import ExitCode, SettingsError
from streamops.model.fields import option
from streamops.service.addresses import is_loopback, parse_listen
from streamops.settings.config import read_config
from streamops.settings.load import Settings, load_settings, selector_of

if TYPE_CHECKING:
    from streamops.exporter.notifier import Notifier
    from streamops.exporter.scraper import Scraper
    from streamops.exporter.series_limits import SeriesLimits
    from streamops.exporter.server import ServerOptions
    from streamops.exporter.target import Open
    from streamops.monitor.server_monitor import ServerMonitor
    from streamops.monitor.watch import Watch

MOST_READ: Final = 10_000
"""Streams that are read, so that those with the greatest lag can be shown; a context may state another number."""

ALLOCATIONS: Final = 100_000
"""Objects more than were freed, after which cycles are looked for."""


@command(
    examples=[
        ("streamops exporter", "at 127.0.0.1:9641, of the context in use"),
        ("streamops exporter --listen 0.0.0.0:9641 --web-config web.yml", "with TLS and passwords"),
        ("streamops exporter 'orders:*' --exclude '.*:scratch'", "these streams, except scratch ones"),
        ("streamops exporter --granularity group", "without series of consumers"),
        ("streamops exporter --notify", "notices of findings too, without an Alertmanager"),
    ],
    exits={
        0: "stopped by a signal",
        2: "usage or configuration; the address is taken",
    },
    epilog="For Prometheus's scrape_configs: {job_name: streamops, static_configs: [{targets: ['127.0.0.1:9641']}]}. "
    "Another context: curl 'http://127.0.0.1:9641/probe?target=NAME'.",
)
def exporter(
    session: Session,
    *,
    patterns: Patterns = (),
    listen: Annotated[
        str | None, option("Listen address; default: [exporter], else 127.0.0.1:9641.", metavar="HOST:PORT")
    ] = None,
    web_config: Annotated[
        Path | None,
        FILE,
        option(
            "TLS, client certificates and passwords, in the format of Prometheus's exporter-toolkit.",
            metavar="FILE",
        ),
    ] = None,
    include: Annotated[
        tuple[str, ...],
        option("Only streams whose full names match one of these RE2 patterns.", metavar="REGEX"),
    ] = (),
    exclude: Annotated[
        tuple[str, ...],
        option("Skip streams whose full names match one of these RE2 patterns.", metavar="REGEX"),
    ] = (),
    max_streams: Annotated[
        int | None,
        click.IntRange(min=1, max=1_000_000),
        option("Export at most N streams, those with the greatest lag; default: [exporter], else 2000."),
    ] = None,
    granularity: Annotated[
        str | None,
        click.Choice(["stream", "group", "consumer"]),
        option("Finest level of metrics; default: [exporter], else consumers."),
    ] = None,
    notify: Annotated[
        bool, option("Send notices of findings by mail, chat or webhook, as [notify] configures.")
    ] = False,
    log_format: LogFormat = "text",
) -> int:
    """Serve metrics of streams, groups, consumers, dead letters and delayed messages, until a signal stops it.

    Redis is read once per scrape; concurrent scrapes share one reading. While Redis is unreachable,
    streamops_up is 0. PATTERN is a stream's name or a glob such as 'orders:*'; without any, the context's
    streams are read, or all of them. /probe?target=CONTEXT serves other contexts of the configuration.

    With --notify it also reads Redis on its own, for each context of [notify], and sends notices when
    findings last, when they end, and when Redis is unreachable. After a restart, notices of findings that persist
    are sent once more.

    SIGTERM or Ctrl-C: no new connections are accepted, scrapes in flight finish.
    """
    # Only who serves pays for aiohttp.
    from streamops.exporter.series_limits import Granularity, compile_patterns  # noqa: PLC0415
    from streamops.exporter.server import ServerOptions  # noqa: PLC0415
    from streamops.service.processes import runner  # noqa: PLC0415

    settings = session.settings
    table = settings.tables.exporter
    guards = _guards(settings)
    if include:
        guards = replace(guards, include=compile_patterns(include, "--include"))
    if exclude:
        guards = replace(guards, exclude=compile_patterns(exclude, "--exclude"))
    if max_streams is not None:
        guards = replace(guards, max_streams=max_streams)
    if granularity is not None:
        guards = replace(guards, granularity=Granularity(granularity))
    host, port = _address(listen, table.listen)
    options = ServerOptions(
        host=host,
        port=port,
        web_config=web_config or (Path(table.web_config) if table.web_config else None),
        label=settings.connection.label,
        context=settings.context,
    )
    notifiers = _load_notifiers(session) if notify else {}
    session.configure_logs(log_format)
    _collect_garbage_seldom()
    runner()(_serve(session, options, guards, patterns, notifiers))
    return ExitCode.DONE


def _collect_garbage_seldom() -> None:
    """A scrape makes tens of thousands of objects without a cycle among them: looking for one took a third of its time."""
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, 10, 10)


async def _serve(
    session: Session,
    options: "ServerOptions",
    guards: "SeriesLimits",
    patterns: Sequence[str],
    notifiers: "Mapping[str | None, Notifier]",
) -> None:
    from streamops.exporter.scraper import Scraper  # noqa: PLC0415
    from streamops.exporter.server import serving  # noqa: PLC0415
    from streamops.exporter.targets import ScrapeTargets  # noqa: PLC0415
    from streamops.service.signals import stopped_by_signals  # noqa: PLC0415 - as above

    def scraper_of(context: str) -> "Scraper":
        load = _loads(session, context)
        return Scraper(_opening(repeat(load), guards, ()), guards, context, session.settings.tables.retention)

    # The settings of the start serve first; each new connection reads them anew.
    loads = chain([lambda: session.settings], repeat(_loads(session)))
    name, policies = options.context or options.label, session.settings.tables.retention
    scraper = Scraper(_opening(loads, guards, patterns), guards, name, policies)
    targets = ScrapeTargets(lambda: read_config(os.environ, Path.cwd()).contexts, scraper_of)
    watched = [
        (scraper if context is None else scraper_of(context), notifier)
        for context, notifier in notifiers.items()
    ]
    try:
        with suppress(asyncio.CancelledError), stopped_by_signals(signal.SIGTERM, signal.SIGINT) as stop:
            async with serving(options, scraper, targets, watched) as port:
                _announce(session, options, port)
                await stop.wait()
    finally:
        await targets.close()
        for one in (scraper, *(one for one, _ in watched if one is not scraper)):
            await one.close()


def _load_notifiers(session: Session) -> "dict[str | None, Notifier]":
    """What sends notices about each context that is watched; that of the exporter has no name here."""
    from streamops.exporter.alerts import Origin  # noqa: PLC0415 - as above
    from streamops.exporter.notifier import open_notifier  # noqa: PLC0415
    from streamops.exporter.outlets import load_notify  # noqa: PLC0415

    own = session.settings
    watched: dict[str | None, Settings] = {None: own}
    watched |= {name: _loads(session, name)() for name in own.tables.notify.contexts if name != own.context}
    notify = load_notify(own)
    notifiers = {}
    for context, settings in watched.items():
        label = settings.connection.label
        named = f"{settings.context} ({label})" if settings.context else label
        notifiers[context] = open_notifier(notify, Origin(named, selector_of(settings)))
    return notifiers


def _announce(session: Session, options: "ServerOptions", port: int) -> None:
    host = f"[{options.host}]" if ":" in options.host else options.host
    if options.web_config is None and not is_loopback(options.host):
        session.narrator.note(
            f"warning: anyone who reaches {host}:{port} can read it: give passwords and TLS in a --web-config"
        )
    if options.web_config is None:
        session.narrator.note(f"metrics of {options.label} at http://{host}:{port}/metrics")
    else:
        place = f"{host}:{port}/metrics, by the rules of {options.web_config}"
        session.narrator.note(f"metrics of {options.label} at {place}")


def _address(flag: str | None, configured: str) -> tuple[str, int]:
    try:
        return parse_listen(configured if flag is None else flag)
    except SettingsError:
        where = "exporter.listen" if flag is None else "--listen"
        raise SettingsError(
            f"{where}: not HOST:PORT", "Write 127.0.0.1:9641, 0.0.0.0:9641 or [::1]:9641."
        ) from None


def _guards(settings: Settings) -> "SeriesLimits":
    from streamops.exporter.series_limits import Granularity, SeriesLimits, compile_patterns  # noqa: PLC0415 - as above

    table = settings.tables.exporter
    return SeriesLimits(
        include=compile_patterns(table.include, "exporter.include"),
        exclude=compile_patterns(table.exclude, "exporter.exclude"),
        max_streams=table.max_streams,
        max_consumers=table.max_consumers,
        granularity=Granularity(table.granularity),
    )


def _loads(session: Session, context: str | None = None) -> Callable[[], Settings]:
    """What reads the settings of a context, or of the one in use: files as they are then."""
    flags = session.flags if context is None else replace(session.flags, context=context, url=None)
    return lambda: load_settings(flags, os.environ, Path.cwd())


def _opening(
    loads: "Iterator[Callable[[], Settings]]", guards: "SeriesLimits", patterns: Sequence[str]
) -> "Open":
    """What connects a scraper."""

    async def open_monitor() -> "ServerMonitor":
        from streamops.monitor.server_monitor import ServerMonitor  # noqa: PLC0415 - redis-py is for commands that connect

        # It may run a program that prints a password: the server must answer in the meantime.
        settings = await asyncio.to_thread(next(loads))
        watch = _watch(settings, guards, patterns)
        return await ServerMonitor.connect(settings.connection, watch, settings.tables.health)

    return open_monitor


def _watch(settings: Settings, guards: "SeriesLimits", patterns: Sequence[str]) -> "Watch":
    watch = replace(settings.watch, deep=True)
    if "max_streams" not in settings.origins:
        watch = replace(watch, max_streams=max(MOST_READ, guards.max_streams))
    return replace(watch, streams=tuple(patterns), exclude=()) if patterns else watch
