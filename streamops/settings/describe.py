"""Effective settings as rows of text, for ``config show`` and ``ctx show``. No row ever holds a secret."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict

from streamops.model.measures import typed_duration
from streamops.settings.load import DEFAULT_ORIGIN, Settings
from streamops.settings.passwords import split_command
from streamops.wire.options import ConnectionOptions, Secret, Tls

HIDDEN: Final = "***"

CHOSEN_BY_FACES: Final = {"details", "deep"}
"""What of a watch is no setting: each face looks as closely as it needs to."""


class SettingRow(NamedTuple):
    """One effective setting.

    Attributes:
        key: Its dotted key, as in a configuration file where it has one.
        value: Its value as text; empty for none.
        origin: The flag, variable or file that it comes from, or ``default``.
    """

    key: str
    value: str
    origin: str


def describe_settings(settings: Settings) -> tuple[SettingRow, ...]:
    """Every effective setting, its value and its origin; secrets are ``***``."""
    values = {
        "context": settings.context,
        "environment": settings.environment,
        "read_only": settings.read_only,
    }
    watch = {key: value for key, value in asdict(settings.watch).items() if key not in CHOSEN_BY_FACES}
    return (
        *_rows(values, settings),
        *_connection_rows(settings),
        *_rows(watch, settings),
        *_table_rows("health", settings.thresholds, settings),
        *_table_rows("console", settings.console, settings),
        *_table_rows("exporter", settings.exporter, settings),
        *_view_rows(settings),
        *_retention_rows(settings),
        *_pool_rows(settings),
        *_notify_rows(settings),
    )


def describe_left_out(settings: Settings) -> tuple[SettingRow, ...]:
    """What a project's file states and may not set, without the values."""
    return tuple(SettingRow(key, "", f"{file}, left out: not trusted") for key, file in settings.left_out)


def _connection_rows(settings: Settings) -> Iterator[SettingRow]:
    """What differs from the default comes from where the URL does, unless a key or flag of its own says it."""
    defaults = _connection_values(ConnectionOptions())
    url_origin = settings.origins.get("url", DEFAULT_ORIGIN)
    for key, value in _connection_values(settings.connection).items():
        fallback = DEFAULT_ORIGIN if value == defaults[key] and key != "url" else url_origin
        yield SettingRow(key, _render_value(value), settings.origins.get(key, fallback))


def _connection_values(options: ConnectionOptions) -> dict[str, object]:
    tls = options.tls or Tls()
    return {
        "url": options.label,
        "username": options.username,
        "password": options.password,
        "sentinel_username": options.sentinel_username,
        "sentinel_password": options.sentinel_password,
        "ca": tls.ca_file,
        "cert": tls.certificate_file,
        "key": tls.key_file,
        "sni": tls.server_name,
        "verify": tls.verify if options.tls else None,
        "timeout": options.timeout,
        "client_name": options.client_name,
    }


def _table_rows(name: str, table: Struct, settings: Settings) -> Iterator[SettingRow]:
    return _rows({f"{name}.{key}": value for key, value in asdict(table).items()}, settings)


def _view_rows(settings: Settings) -> Iterator[SettingRow]:
    for name, view in settings.views.items():
        stated = {key: value for key, value in asdict(view).items() if value not in (None, "", (), False)}
        yield from _rows({f"views.{name}.{key}": value for key, value in stated.items()}, settings)


def _retention_rows(settings: Settings) -> Iterator[SettingRow]:
    for at, policy in enumerate(settings.retention):
        stated = {key: value for key, value in asdict(policy).items() if value is not None}
        yield from _rows({f"retention[{at}].{key}": value for key, value in stated.items()}, settings)


def _pool_rows(settings: Settings) -> Iterator[SettingRow]:
    for kind, tables in (("pools", settings.pools), ("budgets", settings.budgets)):
        for name, table in tables.items():
            for key, value in asdict(table).items():
                if value is not None:
                    origin = settings.origins.get(f"{kind}.{name}.{key}", DEFAULT_ORIGIN)
                    yield from _target_rows(f"{kind}.{name}.{key}", value, origin)


def _target_rows(key: str, value: object, origin: str) -> Iterator[SettingRow]:
    """A value; or the rows of a target's table, without what people may have written secrets into."""
    if not isinstance(value, Struct):
        yield SettingRow(key, _render_value(value), origin)
        return
    for name, part in asdict(value).items():
        match name, part:
            case _, None:
                continue
            case (("headers" | "env"), dict()):
                part = dict.fromkeys(part, HIDDEN)  # noqa: PLW2901 - the same without its values
            case (("get" | "set" | "secret_command"), _):
                program, *rest = split_command(part)
                part = f"{program} {HIDDEN}" if rest else program  # noqa: PLW2901 - the same without arguments
        yield SettingRow(f"{key}.{name}", _render_value(part), origin)


def _notify_rows(settings: Settings) -> Iterator[SettingRow]:
    table = asdict(settings.notify)
    sources = [key for key in ("urls_file", "urls_command") if table.pop(key) is not None]
    origin = DEFAULT_ORIGIN
    if sources:
        origin = f"{settings.origins[f'notify.{sources[0]}']}, {sources[0]}"
    yield SettingRow("notify.urls", HIDDEN if sources else "", origin)
    yield from _rows({f"notify.{key}": value for key, value in table.items()}, settings)


def _rows(values: Mapping[str, object], settings: Settings) -> Iterator[SettingRow]:
    for key, value in values.items():
        yield SettingRow(key, _render_value(value), settings.origins.get(key, DEFAULT_ORIGIN))


def _render_value(value: object) -> str:
    match value:
        case None:
            return ""
        case Secret():
            return HIDDEN
        case bool():
            return "true" if value else "false"
        case timedelta():
            return typed_duration(value)
        case tuple():
            return ", ".join(map(str, value))
        case dict():
            return ", ".join(f"{key} -> {target}" for key, target in value.items())
        case _:
            return str(value)
