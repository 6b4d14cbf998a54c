"""Effective settings. A flag wins over the environment, then the project's file as far as it is trusted, the user's file, the default."""

import getpass
import os
import platform
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.acting import Actor, Environment
from streamops.monitor.watch import Watch
from streamops.settings.config import Config, chosen_contexts, read_config, readable_secrets
from streamops.settings.connections import Context, check_context, compose_context, compose_url
from streamops.settings.decoding import join_key
from streamops.settings.pools import ConfiguredPool, PoolSettings, find_problems, read_target
from streamops.settings.tables import ConfigTable
from streamops.targets.specs import TargetSpec
from streamops.wire.options import ConnectionOptions
from streamops.wire.urls import MAX_TIMEOUT

DEFAULT_ORIGIN: Final = "default"
STATED: Final = frozenset({"--context", "STREAMOPS_CONTEXT", "--url", "STREAMOPS_URL"})
"""Where a server is chosen for one call; a configuration's own default needs no words."""

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
        timeout: Read timeout.
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
        tables: The tables of all files.
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
    tables: ConfigTable = ConfigTable()
    origins: dict[str, str] = {}
    warnings: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


class ConnectionTarget(NamedTuple):
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
    settings = Settings(
        tables=config.tables,
        origins=config.origins,
        warnings=tuple(readable_secrets(config.files)),
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


def choose_target(flags: Flags, environ: Mapping[str, str], config: Config) -> ConnectionTarget:
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
            return ConnectionTarget(None, url, url_origin)
        if name is not None:
            return ConnectionTarget(config.find_context(name, name_origin, environ), None, name_origin)
    if default := config.find_default(environ):
        name, origin = default
        return ConnectionTarget(config.find_context(name, origin, environ), None, origin)
    return ConnectionTarget(None, None, DEFAULT_ORIGIN)


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
    stated: dict[str, tuple[Any, str]] = {}
    if flags.read_only is not None:
        stated["read_only"] = flags.read_only, "--read-only"
    elif written := environ.get("STREAMOPS_READ_ONLY"):
        stated["read_only"] = _decode_truth("STREAMOPS_READ_ONLY", written), "STREAMOPS_READ_ONLY"
    if flags.color is not None:
        stated["console.color"] = flags.color, "--no-color"
    elif environ.get("NO_COLOR"):
        stated["console.color"] = False, "NO_COLOR"
    if flags.timeout is not None:
        if not timedelta(0) < flags.timeout <= MAX_TIMEOUT:
            raise SettingsError("--timeout: not above 0 and up to an hour", "Write --timeout 5.")
        stated["timeout"] = flags.timeout, "--timeout"
    values = {key: value for key, (value, _) in stated.items()}
    console, connection = settings.tables.console, settings.connection
    return replace(
        settings,
        read_only=values.get("read_only", settings.read_only),
        tables=replace(
            settings.tables, console=replace(console, color=values.get("console.color", console.color))
        ),
        connection=replace(connection, timeout=values.get("timeout", connection.timeout)),
        origins={**settings.origins, **{key: origin for key, (_, origin) in stated.items()}},
    )


def _decode_truth(variable: str, text: str) -> bool:
    truth = _TRUTH.get(text.strip().lower())
    if truth is None:
        raise SettingsError(f"{variable}: neither true nor false", "Write 1 or 0.")
    return truth


def load_pools(environ: Mapping[str, str], cwd: Path, context: str | None) -> PoolSettings:
    """The pools whose streams are in a context; no secret is read and no program run.

    Args:
        environ: The environment.
        cwd: The working directory.
        context: The context in use; none where a URL stands in for one.

    Raises:
        SettingsError: They make no sense together, or ask for what their file may not ask for.
    """
    config = read_config(environ, cwd)
    pools = [
        ConfiguredPool(name, table, Path(config.origins[join_key(join_key("pools", name), "stream")]))
        for name, table in config.tables.pools.items()
    ]
    budgets = {name: table.workers for name, table in config.tables.budgets.items()}
    for problem in find_problems(pools, budgets, config.contexts):
        raise SettingsError(problem.message, problem.hint)
    return PoolSettings({pool.name: pool for pool in pools if pool.table.context in (None, context)}, budgets)


def find_target(pool: str, context: str | None, environ: Mapping[str, str], cwd: Path) -> TargetSpec | None:
    """What runs the workers of a pool, as it is configured for a context; none where it is not.

    Raises:
        SettingsError: What is configured makes no sense.
    """
    pools = load_pools(environ, cwd, context).pools
    return read_target(pools[pool], environ) if pool in pools else None


def actor_of(settings: Settings) -> Actor:
    """This process as the one who acts, in the context in use."""
    name = settings.context or settings.connection.label
    return this_actor(name, settings.environment, selector_of(settings))


def this_actor(context: str, environment: Environment, selector: tuple[str, ...] = ()) -> Actor:
    """This process as the one who acts in a context, or at an address."""
    return Actor(
        user=_user(),
        host=platform.node(),
        pid=os.getpid(),
        context=context,
        environment=environment,
        selector=selector,
    )


def selector_of(settings: Settings) -> tuple[str, ...]:
    """The options that choose the same server; an address goes without its user and its secrets."""
    if settings.context is not None:
        return ("-c", settings.context) if settings.origins.get("context") in STATED else ()
    return ("--url", settings.connection.label) if settings.origins.get("url") in STATED else ()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container's user may have a number and no name.
        return f"uid {os.getuid()}"


class ContextSummary(Struct, frozen=True):
    """One context as a list shows it.

    Attributes:
        name: Its name.
        label: The address in words, without secrets; empty where there is a problem.
        environment: How much care it deserves.
        read_only: Whether everything that changes anything is refused there.
        file: The configuration file that has it.
        current: Whether a command would use it now.
        problem: What is wrong with it; empty for nothing.
    """

    name: str
    label: str
    environment: Environment
    read_only: bool
    file: str
    current: bool
    problem: str = ""


def list_contexts(flags: Flags, environ: Mapping[str, str], cwd: Path) -> tuple[ContextSummary, ...]:
    """Every context by name; no password is read and no program run.

    Raises:
        SettingsError: A configuration file has a problem beyond a single context's address.
    """
    config = read_config(environ, cwd)
    try:
        current = choose_target(flags, environ, config).context
    except SettingsError:
        # A list must come up even where what was chosen is gone: it is how to see what to choose instead.
        current = None
    summaries = []
    for name, context in sorted(config.contexts.items()):
        label, problem = "", ""
        try:
            label = check_context(context).label
        except SettingsError as error:
            problem = error.message
        summaries.append(
            ContextSummary(
                name=name,
                label=label,
                environment=context.table.environment,
                read_only=context.table.read_only,
                file=str(context.file),
                current=current is context,
                problem=problem,
            )
        )
    return tuple(summaries)


def use_context(name: str, environ: Mapping[str, str], cwd: Path) -> tuple[str, ...]:
    """Choose a context for the working directory's configuration, or the user's where there is none.

    Returns:
        What a face should say besides, a sentence each: a variable that wins over the choice.

    Raises:
        SettingsError: There is no such context, or the choice cannot be kept.
    """
    config = read_config(environ, cwd)
    config.find_context(name, "ctx use", environ)
    chosen_contexts(environ).write(str(config.files[0].path), name, lambda file: Path(file).exists())
    stronger = [variable for variable in ("STREAMOPS_URL", "STREAMOPS_CONTEXT") if environ.get(variable)]
    return tuple(f"{variable} is set and wins over this choice" for variable in stronger)
