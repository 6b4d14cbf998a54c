"""Effective settings as rows of text, for ``config show`` and ``ctx show``; no row ever holds a secret. And the example file."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict

from streamops.model.config_keys import ConfigKey, Holds, config_keys, toml
from streamops.model.measures import typed_duration
from streamops.model.secret import Secret
from streamops.settings.decoding import walk
from streamops.settings.load import DEFAULT_ORIGIN, Settings
from streamops.settings.secrets import split_command
from streamops.settings.tables import ConfigTable
from streamops.wire.options import ConnectionOptions, Tls

HIDDEN: Final = "***"

CHOSEN_BY_FACES: Final = {"details", "deep"}
"""What of a watch is no setting: each face looks as closely as it needs to."""

EXAMPLE_WIDTH: Final = 118
EXAMPLE_PREFACE: Final = """\
# streamops: every key of a configuration file, with its default or an example.
#
# The user's file is ~/.config/streamops/config.toml; a project's is streamops.toml in the working directory.
# The project's may set [health], [views], default_context (one of the user's own), and of [console] refresh, theme,
# mouse and color. All else there is left out until `streamops config trust` was called for the file in its current form.
# A context of a trusted file replaces the user's of the same name; single tables are merged key by key, the
# project's first; its [[retention]] tables come before the user's. STREAMOPS_CONFIG names one file to read in place
# of both. A flag wins over the environment, the environment over files.
#
# Durations: "250ms", "30s", "5m", "1h30m", "2d", or a number of seconds.
# Names of files: "~/" is the home directory; relative ones are relative to the directory of this file.

"""


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
        *_table_rows(settings),
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


def _table_rows(settings: Settings) -> Iterator[SettingRow]:
    """Single tables whole; of those by name and of arrays what is not empty. A nested table comes from where its key does."""
    for name, key in config_keys(ConfigTable).items():
        if key.table is None or name == "contexts":
            continue
        stated = _without_structs(getattr(settings.tables, name))
        for place, inner, value in walk(ConfigTable, {name: stated}):
            if (key.named or key.rows) and value in (None, "", (), {}):
                continue
            parents = (place.rsplit(".", cut)[0] for cut in range(place.count(".")))
            origin = next(
                (settings.origins[one] for one in parents if one in settings.origins), DEFAULT_ORIGIN
            )
            yield SettingRow(place, _render_value(_without_secrets(inner, value)), origin)


def _without_structs(value: Any) -> Any:  # noqa: ANN401 - any value of a key
    match value:
        case Struct():
            return {
                name: _without_structs(part)
                for name, part in asdict(value).items()
                if not (part is None and config_keys(type(value))[name].table)
            }
        case dict():
            return {name: _without_structs(part) for name, part in value.items()}
        case tuple():
            return tuple(map(_without_structs, value))
    return value


def _without_secrets(key: ConfigKey, value: Any) -> Any:  # noqa: ANN401 - any value of a key
    match key.holds:
        case Holds.SECRETS:
            return dict.fromkeys(value, HIDDEN)
        case Holds.PROGRAM if value is not None:
            program, *rest = split_command(value)
            return f"{program} {HIDDEN}" if rest else program
        case _:
            return value


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


def render_example() -> str:
    """The example file: every key with its default or an example, and what it says; TOML that loads as it stands."""
    return EXAMPLE_PREFACE + "\n".join(_example_lines(ConfigTable, "")) + "\n"


def _example_lines(table: type[Struct], place: str) -> Iterator[str]:
    keys = config_keys(table).values()
    for key in keys:
        if key.table is None:
            value = key.default if key.example is None else key.example
            line, text = f"{'# ' if key.alternative else ''}{key.name} = {toml(value)}", f"# {key.text}"
            yield from (f"{line}  {text}",) if len(line) + len(text) < EXAMPLE_WIDTH else (text, line)
    for key in keys:
        if key.table is not None:
            name = f"{place}{key.name}{f'.{key.example}' if key.named else ''}"
            head = f"[[{name}]]" if key.rows else f"[{name}]"
            lines = ("", f"{head}  # {key.text}", *_example_lines(key.table, f"{name}."))
            yield from (f"# {line}" if key.alternative and line else line for line in lines)
