"""Arguments and options that several commands share, and the kinds of values they take."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Generic, TypeVar

import click
from click.shell_completion import CompletionItem

from streamops.errors import SettingsError
from streamops.model.entries import EntryId
from streamops.model.fields import Instant, argument, option
from streamops.model.measures import parse_duration, parse_size
from streamops.model.text import name_bytes

Value = TypeVar("Value")
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_HIGHEST_PORT: Final = 65_535
_UNIT_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}


class ParsedType(click.ParamType[Value], Generic[Value]):
    """A value that a function reads from text; what is wrong with it is a usage error.

    Args:
        name: What click calls it.
        parse: Reads it; raises ``ValueError`` that says what is wrong, or ``SettingsError``.
    """

    def __init__(self, name: str, parse: Callable[[str], Value]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Value:  # noqa: ANN401 - click converts a default that is a value already
        """Read it; fails as a usage error."""
        if not isinstance(value, str):
            converted: Value = value
            return converted
        try:
            return self._parse(value)
        except SettingsError as error:
            self.fail(f"{value!r} is {error.message}. {error.hint}", param, ctx)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _size(value: str) -> int:
    number = parse_size(value)
    if number < 1:
        raise ValueError(f"{value!r} is nothing. Write 500mb, 2gb, or a number of bytes.")
    return number


def _entry_id(value: str) -> EntryId:
    try:
        return EntryId.parse(value)
    except ValueError as error:
        raise ValueError(f"{error}. Write 1526919030474-0, or its first part alone.") from None


def _action_id(value: str) -> EntryId:
    try:
        return EntryId.parse(value)
    except ValueError:
        raise ValueError(f"{value!r} is no action's ID. `streamops audit ls` lists the actions.") from None


def _instant(value: str) -> datetime | timedelta:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        pass
    else:
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return parse_duration(value)
    except SettingsError:
        raise ValueError(
            f"{value!r} is no time. Write 2026-03-01T14:00:00Z, 2026-03-01, or 15m for 15 minutes ago."
        ) from None


def _field(value: str) -> tuple[bytes, bytes]:
    name, equals, content = value.partition("=")
    if not equals:
        raise ValueError(f"{value!r} has no '='. Write NAME=VALUE.")
    return name_bytes(name), name_bytes(content)


def _number(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f"{value!r} is no number from 0 on.")
    return number


def _rate(value: str) -> float:
    number, _, unit = value.partition("/")
    try:
        rate = float(number) / _UNIT_SECONDS[unit.strip() or "s"]
    except (ValueError, KeyError):
        rate = math.nan
    if not 0 < rate < math.inf:
        raise ValueError(f"{value!r} is no rate. Write 500/s, 30/m or 1000/h.")
    return rate


def _address(value: str) -> tuple[str, int]:
    host, colon, port = value.rpartition(":")
    if not colon or not port.isdigit() or int(port) > _HIGHEST_PORT:
        raise ValueError(f"{value!r} is no address. Write 127.0.0.1:9642.")
    return host.strip("[]") or "127.0.0.1", int(port)


DURATION: Final = ParsedType("duration", parse_duration)
"""A span of time: ``30s``, ``5m``, ``1h30m``, or seconds."""
SIZE: Final = ParsedType("size", _size)
"""A number of bytes: ``500mb``, ``2gb``, or plain bytes; at least one."""
ENTRY_ID: Final = ParsedType("id", _entry_id)
"""An entry ID ``ms-seq`` or ``ms``."""
ACTION_ID: Final = ParsedType("id", _action_id)
"""The ID of an action in the audit log."""
INSTANT: Final = ParsedType("time", _instant)
"""An instant in RFC 3339, in UTC where it names no zone, or how long ago, as a span."""
FIELD: Final = ParsedType("field", _field)
"""A condition ``NAME=VALUE`` on a field, byte for byte."""
NUMBER: Final = ParsedType("number", _number)
"""A number, not below zero."""
RATE: Final = ParsedType("rate", _rate)
"""Units a second: ``500``, ``500/s``, ``30/m``, ``1000/h``."""
ADDRESS: Final = ParsedType("address", _address)
"""``HOST:PORT`` to listen at; without a host, loopback."""

FILE: Final = click.Path(path_type=Path)


def _completer(names: str) -> Completer:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        # Imported when a shell asks: it connects to the server.
        from streamops.cli import completing  # noqa: PLC0415

        ask: Completer = getattr(completing, f"complete_{names}")
        return ask(ctx, param, incomplete)

    return complete


COMPLETIONS: Final = {
    names: _completer(names)
    for names in (
        "streams",
        "groups",
        "consumers",
        "queues",
        "actions",
        "jobs",
        "topics",
        "pools",
        "contexts",
    )
}

Patterns = Annotated[tuple[str, ...], argument("", "streams", metavar="[PATTERN]...")]
Stream = Annotated[str, argument("", "streams")]
Streams = Annotated[tuple[str, ...], argument("", "streams", metavar="STREAM...")]
OptionalStream = Annotated[str | None, argument("", "streams")]
Group = Annotated[str, argument("", "groups")]
OptionalGroup = Annotated[str | None, argument("", "groups")]
Since = Annotated[Instant | None, option("Start time: 2026-03-01T14:00:00Z, or 15m for 15 minutes ago.")]
Until = Annotated[Instant | None, option("End time.")]
LogFormat = Annotated[str, click.Choice(["text", "json"]), option("Format of log lines on stderr.")]
