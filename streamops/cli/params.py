"""Arguments and options that several commands share, and the kinds of values they take."""

import math
from datetime import UTC, datetime, timedelta
from typing import Final

import click
from click.shell_completion import CompletionItem

from streamops.errors import SettingsError
from streamops.model.entries import EntryId
from streamops.model.measures import parse_duration, parse_size
from streamops.model.text import name_bytes

_UNIT_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}


class DurationType(click.ParamType[timedelta]):
    """A span of time: ``30s``, ``5m``, ``1h30m``, or seconds."""

    name = "duration"

    def convert(
        self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Read it; fails as a usage error."""
        if isinstance(value, timedelta):
            return value
        try:
            return parse_duration(value)
        except SettingsError as error:
            self.fail(f"{value!r} is {error.message}. {error.hint}", param, ctx)


class SizeType(click.ParamType[int]):
    """A number of bytes: ``500mb``, ``2gb``, or plain bytes; at least one."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it; fails as a usage error."""
        if isinstance(value, int):
            return value
        try:
            number = parse_size(value)
        except SettingsError as error:
            self.fail(f"{value!r} is {error.message}. {error.hint}", param, ctx)
        if number < 1:
            self.fail(f"{value!r} is nothing. Write 500mb, 2gb, or a number of bytes.", param, ctx)
        return number


class EntryIdType(click.ParamType[EntryId]):
    """An entry ID ``ms-seq`` or ``ms``."""

    name = "id"

    def convert(
        self, value: str | EntryId, param: click.Parameter | None, ctx: click.Context | None
    ) -> EntryId:
        """Read it; fails as a usage error."""
        if isinstance(value, EntryId):
            return value
        try:
            return EntryId.parse(value)
        except ValueError as error:
            self.fail(f"{error}. Write 1526919030474-0, or its first part alone.", param, ctx)


class ActionIdType(EntryIdType):
    """The ID of an action in the audit log."""

    def convert(
        self, value: str | EntryId, param: click.Parameter | None, ctx: click.Context | None
    ) -> EntryId:
        """Read it; fails as a usage error."""
        try:
            return value if isinstance(value, EntryId) else EntryId.parse(value)
        except ValueError:
            self.fail(f"{value!r} is no action's ID. `streamops audit ls` lists the actions.", param, ctx)


class InstantType(click.ParamType["datetime | timedelta"]):
    """An instant in RFC 3339, taken for UTC where it names no zone, or how long ago, as a span."""

    name = "time"

    def convert(
        self, value: str | datetime | timedelta, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime | timedelta:
        """Read it; fails as a usage error."""
        if isinstance(value, datetime | timedelta):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            pass
        else:
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        try:
            return parse_duration(value)
        except SettingsError:
            self.fail(
                f"{value!r} is no time. Write 2026-03-01T14:00:00Z, 2026-03-01, or 15m for 15 minutes ago.",
                param,
                ctx,
            )


class FieldType(click.ParamType[tuple[bytes, bytes]]):
    """A condition ``NAME=VALUE`` on a field, byte for byte."""

    name = "field"

    def convert(
        self, value: str | tuple[bytes, bytes], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[bytes, bytes]:
        """Read it; fails as a usage error."""
        if isinstance(value, tuple):
            return value
        name, equals, content = value.partition("=")
        if not equals:
            self.fail(f"{value!r} has no '='. Write NAME=VALUE.", param, ctx)
        return name_bytes(name), name_bytes(content)


class NumberType(click.ParamType[float]):
    """A number, not below zero."""

    name = "number"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it; fails as a usage error."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            self.fail(f"{value!r} is no number from 0 on.", param, ctx)
        return number


class RateType(click.ParamType[float]):
    """Units a second: ``500``, ``500/s``, ``30/m``, ``1000/h``."""

    name = "rate"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it; fails as a usage error."""
        if isinstance(value, float):
            return value
        number, _, unit = value.partition("/")
        try:
            rate = float(number) / _UNIT_SECONDS[unit.strip() or "s"]
        except (ValueError, KeyError):
            rate = math.nan
        if not 0 < rate < math.inf:
            self.fail(f"{value!r} is no rate. Write 500/s, 30/m or 1000/h.", param, ctx)
        return rate


def _complete_streams(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    # Imported when a shell asks.
    from streamops.cli.completing import complete_streams  # noqa: PLC0415

    return complete_streams(ctx, param, incomplete)


def _complete_groups(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from streamops.cli.completing import complete_groups  # noqa: PLC0415 - the same

    return complete_groups(ctx, param, incomplete)


def _complete_consumers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from streamops.cli.completing import complete_consumers  # noqa: PLC0415 - the same

    return complete_consumers(ctx, param, incomplete)


def _complete_queues(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from streamops.cli.completing import complete_queues  # noqa: PLC0415 - the same

    return complete_queues(ctx, param, incomplete)


def _complete_actions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from streamops.cli.completing import complete_actions  # noqa: PLC0415 - the same

    return complete_actions(ctx, param, incomplete)


def _complete_jobs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from streamops.cli.completing import complete_jobs  # noqa: PLC0415 - the same

    return complete_jobs(ctx, param, incomplete)


def _complete_topics(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from streamops.cli.completing import complete_topics  # noqa: PLC0415 - the same

    return complete_topics(ctx, param, incomplete)


def _complete_pools(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from streamops.cli.completing import complete_pools  # noqa: PLC0415 - the same

    return complete_pools(ctx, param, incomplete)


def _complete_contexts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from streamops.cli.completing import complete_contexts  # noqa: PLC0415 - the same

    return complete_contexts(ctx, param, incomplete)


DURATION: Final = DurationType()
SIZE: Final = SizeType()
ENTRY_ID: Final = EntryIdType()
ACTION_ID: Final = ActionIdType()
INSTANT: Final = InstantType()
FIELD: Final = FieldType()
NUMBER: Final = NumberType()
RATE: Final = RateType()
COMPLETIONS: Final = {
    "streams": _complete_streams,
    "groups": _complete_groups,
    "consumers": _complete_consumers,
    "queues": _complete_queues,
    "actions": _complete_actions,
    "jobs": _complete_jobs,
    "topics": _complete_topics,
    "pools": _complete_pools,
}

patterns_argument = click.argument(
    "patterns", metavar="[PATTERN]...", nargs=-1, shell_complete=_complete_streams
)
stream_argument = click.argument("stream", shell_complete=_complete_streams)
stream_argument_optional = click.argument("stream", required=False, shell_complete=_complete_streams)
group_argument = click.argument("group", shell_complete=_complete_groups)
group_argument_optional = click.argument("group", required=False, shell_complete=_complete_groups)
streams_argument = click.argument(
    "streams", metavar="STREAM...", nargs=-1, required=True, shell_complete=_complete_streams
)
context_argument = click.argument("context", shell_complete=_complete_contexts)
