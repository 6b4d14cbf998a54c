"""Effective settings. A flag wins over the environment, then the project's file as far as it is trusted, the user's file, the default."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.acting import Environment
from streamops.model.retention import RetentionPolicy
from streamops.monitor.thresholds import Thresholds
from streamops.monitor.watch import Watch
from streamops.present.views import View
from streamops.settings.config import Config, read_config
from streamops.settings.connections import Context, compose_context, compose_url
from streamops.settings.exporter_table import ExporterTable
from streamops.settings.notify_table import NotifyTable
from streamops.settings.permissions import readable_secrets
from streamops.settings.places import resolve_path
from streamops.settings.pool_tables import BudgetTable, PoolTable
from streamops.settings.schema import ConsoleOptions
from streamops.wire.options import ConnectionOptions
from streamops.wire.url_query import MAX_TIMEOUT

DEFAULT_ORIGIN: Final = "default"
_TRUTH: Final = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


class Flags(Struct, frozen=True, kw_only=True):
    """What the command line states; none where it is silent.

    Attributes:
        context: Name of a context.
        url: A connection URL; it excludes ``context``.
        read_only: Whether everything that changes anything is refused.
        timeout: Longest silence of a server.
        color: Whether colour is used.
    """

    context: str | None = None
    url: str | None = None
    read_only: bool | None = None
    timeout: timedelta | None = None
    color: bool | None = None


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that is set, and who set it.

    Attributes:
        context: Name of the context; none where a URL or the default server stands in for one.
        environment: How much care it deserves; production unless a context says otherwise.
        read_only: Whether everything that changes anything is refused.
        connection: How to connect, passwords included.
        watch: What to watch.
        thresholds: Thresholds of the health rules.
        console: Options of the console.
        views: Saved views of the console, by name.
        retention: How much of which streams ``trim --policies`` keeps, the strongest file's policies first.
        pools: Pools of workers, by name; ``load_pools`` judges them.
        budgets: What several pools share, by name.
        exporter: Where metrics are served, and which; the name of its web-config file is absolute.
        notify: Who is told of what the exporter finds, and when; its addresses are read by ``load_notify``.
        origins: Where values come from, by the keys of ``describe_settings``; what is absent is a default.
        warnings: What a face should say before anything else, a sentence each.
        notices: What it should say of projects' files, a line each.
        left_out: Keys that a project's file states and may not set, each with that file.
    """

    context: str | None = None
    environment: Environment = Environment.PRODUCTION
    read_only: bool = False
    connection: ConnectionOptions = ConnectionOptions()
    watch: Watch = Watch()
    thresholds: Thresholds = Thresholds()
    console: ConsoleOptions = ConsoleOptions()
    views: dict[str, View] = {}
    retention: tuple[RetentionPolicy, ...] = ()
    pools: dict[str, PoolTable] = {}
    budgets: dict[str, BudgetTable] = {}
    exporter: ExporterTable = ExporterTable()
    notify: NotifyTable = NotifyTable()
    origins: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


class Target(NamedTuple):
    """What to connect to: a context, or a URL, or neither for the default; and who said so."""

    context: Context | None
    url: str | None
    origin: str


def load_settings(flags: Flags, environ: Mapping[str, str], cwd: Path) -> Settings:
    """Compose the effective settings; reads files, and runs the chosen context's password program.

    Args:
        flags: What the command line states.
        environ: The environment. What is read of it: STREAMOPS_URL, STREAMOPS_CONTEXT, STREAMOPS_CONFIG,
            STREAMOPS_READ_ONLY, NO_COLOR, HOME, XDG_CONFIG_HOME and XDG_STATE_HOME; empty means unset.
        cwd: The working directory.

    Raises:
        SettingsError: Anything stated anywhere cannot be understood or cannot be read.
    """
    config = read_config(environ, cwd)
    target = choose_target(flags, environ, config)
    thresholds, health_origins = config.merge_table("health", Thresholds)
    console, console_origins = config.merge_table("console", ConsoleOptions)
    views, view_origins = config.named_tables("views", View)
    retention, retention_origins = config.join_rows("retention", RetentionPolicy)
    pools, pool_origins = config.named_tables("pools", PoolTable)
    budgets, budget_origins = config.named_tables("budgets", BudgetTable)
    notify, notify_origins = config.merge_table("notify", NotifyTable)
    exporter, exporter_origins = _merge_exporter(config, environ)
    settings = Settings(
        thresholds=thresholds,
        console=console,
        views=views,
        retention=retention,
        pools=pools,
        budgets=budgets,
        exporter=exporter,
        notify=notify,
        origins=health_origins
        | console_origins
        | view_origins
        | retention_origins
        | pool_origins
        | budget_origins
        | exporter_origins
        | notify_origins,
        warnings=tuple(readable_secrets(config.files, environ)),
        notices=config.notices,
        left_out=tuple((key, str(file.path)) for file in config.files for key in file.left_out),
    )
    if target.context:
        settings = _with_context(settings, target.context, target.origin, environ)
    elif target.url is not None:
        connection = compose_url(target.url, target.origin, cwd, environ)
        settings = replace(
            settings, connection=connection, origins={**settings.origins, "url": target.origin}
        )
    return _with_overrides(settings, flags, environ)


def _merge_exporter(config: Config, environ: Mapping[str, str]) -> tuple[ExporterTable, dict[str, str]]:
    table, origins = config.merge_table("exporter", ExporterTable)
    if table.web_config is not None:
        directory = Path(origins["exporter.web_config"]).parent
        table = replace(table, web_config=str(resolve_path(table.web_config, directory, environ)))
    return table, origins


def choose_target(flags: Flags, environ: Mapping[str, str], config: Config) -> Target:
    """Decide what to connect to.

    Raises:
        SettingsError: A URL and a context are stated side by side, or the context does not exist.
    """
    stated = (
        ("--url", flags.url, "--context", flags.context),
        (
            "STREAMOPS_URL",
            environ.get("STREAMOPS_URL") or None,
            "STREAMOPS_CONTEXT",
            environ.get("STREAMOPS_CONTEXT") or None,
        ),
    )
    for url_origin, url, name_origin, name in stated:
        if url is not None and name is not None:
            raise SettingsError(f"{url_origin} and {name_origin} exclude each other", "Give one of them.")
        if url is not None:
            return Target(None, url, url_origin)
        if name is not None:
            return Target(config.find_context(name, name_origin, environ), None, name_origin)
    if default := config.find_default(environ):
        name, origin = default
        return Target(config.find_context(name, origin, environ), None, origin)
    return Target(None, None, DEFAULT_ORIGIN)


def _with_context(settings: Settings, context: Context, origin: str, environ: Mapping[str, str]) -> Settings:
    table = context.table
    watch = Watch(
        streams=table.streams,
        exclude=table.exclude,
        dead_letters=table.dead_letters,
        delayed=table.delayed,
        max_streams=table.max_streams or Watch().max_streams,
    )
    return replace(
        settings,
        context=context.name,
        environment=table.environment,
        read_only=table.read_only,
        connection=compose_context(context, environ),
        watch=watch,
        origins={**settings.origins, "context": origin, **_context_origins(context)},
    )


def _context_origins(context: Context) -> dict[str, str]:
    file = str(context.file)
    origins = dict.fromkeys([*context.stated, "url"], file)
    for source in context.stated:
        if source.endswith(("password_file", "password_command")):
            origins[source.rpartition("_")[0]] = f"{file}, {source}"
    return origins


def _with_overrides(settings: Settings, flags: Flags, environ: Mapping[str, str]) -> Settings:
    origins = dict(settings.origins)
    read_only, console, connection = settings.read_only, settings.console, settings.connection
    if flags.read_only is not None:
        read_only, origins["read_only"] = flags.read_only, "--read-only"
    elif stated := environ.get("STREAMOPS_READ_ONLY"):
        read_only, origins["read_only"] = _decode_truth("STREAMOPS_READ_ONLY", stated), "STREAMOPS_READ_ONLY"
    if flags.color is not None:
        console, origins["console.color"] = replace(console, color=flags.color), "--no-color"
    elif environ.get("NO_COLOR"):
        console, origins["console.color"] = replace(console, color=False), "NO_COLOR"
    if flags.timeout is not None:
        if not timedelta(0) < flags.timeout <= MAX_TIMEOUT:
            raise SettingsError("--timeout: not above 0 and up to an hour", "Write --timeout 5.")
        connection, origins["timeout"] = replace(connection, timeout=flags.timeout), "--timeout"
    return replace(settings, read_only=read_only, console=console, connection=connection, origins=origins)


def _decode_truth(variable: str, text: str) -> bool:
    truth = _TRUTH.get(text.strip().lower())
    if truth is None:
        raise SettingsError(f"{variable}: neither true nor false", "Write 1 or 0.")
    return truth
