"""``acting_command``: an intent's type as a command that plans, asks and acts."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource
from msgspec import Struct

from streamops.cli.acting.choices import ACTING_OPTIONS, RATE_OPTION, Choices, take_choices
from streamops.cli.command import Command, write_options
from streamops.cli.session import Session, with_session
from streamops.model.acting import Impact, OperationIntent, Plan
from streamops.model.fields import IntentField, intent_fields
from streamops.settings.state import new_backup

if TYPE_CHECKING:
    from streamops.cli.acting.flow import Prepare
from datetime import timedelta
from enum import StrEnum

from streamops.cli.acting.ids import IDS, read_ids, read_names
from streamops.cli.params import ACTION_ID, COMPLETIONS, DURATION, ENTRY_ID, FIELD, INSTANT, NUMBER
from streamops.model.entries import EntryId
from streamops.model.fields import FieldKind
from streamops.model.measures import typed_duration

ACTING_EXITS: Final = {
    0: "done, or the plan was shown",
    1: "failed; no such stream, group or consumer",
    4: "refused: read-only, not permitted, not confirmed",
    5: "partly done; a job that can be resumed prints its token",
    6: "conflict: the server changed since the plan was made; nothing was done",
}

AT_ONCE: Final = "It is applied without asking; --dry-run shows the plan and changes nothing."

REASONS: Final = frozenset({"max-deliveries", "rejected", "undecodable", "payload-missing", "timeout"})
"""Reasons of dead letters that workers give; as a note for the audit log such a word is meant to select."""


class NothingSelectedError(Exception):
    """IDs were given, and there are none: from an empty pipe. Without IDs at all it would be every entry."""


class ActingCommand(Command):
    """A command with the options that every acting command has, in a section of their own.

    Attributes:
        shared: Those options.
    """

    def __init__(self, *args: Any, rated: bool = False, **attributes: Any) -> None:
        exits = ACTING_EXITS | dict(attributes.pop("exits", None) or {})
        super().__init__(*args, exits=exits, **attributes)
        self.shared: tuple[click.Option, ...] = (*ACTING_OPTIONS, *((RATE_OPTION,) if rated else ()))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The command's own parameters, the global options, and those of acting."""
        return [*super().get_params(ctx), *self.shared]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then those of acting."""
        super().format_options(ctx, formatter)
        write_options(formatter, "Acting", self.shared, ctx)


class OtherPlan(Struct, frozen=True):
    """An option with which a plan is made in another way than by an intent.

    Attributes:
        option: The option; whatever else selects anything excludes it.
        prepare: Makes the plan; it is handed all values by name.
    """

    option: click.Option
    prepare: Callable[[Mapping[str, Any], Choices], "Prepare"]


def acting_command(intent: type[OperationIntent], other: OtherPlan | None = None) -> ActingCommand:
    """Make a command of an intent's type: it says what it does, and its flags are the type's annotated fields.

    Args:
        intent: The type; a ``ValueError`` of its construction is a usage error.
        other: Another way to a plan.
    """
    fields = intent_fields(intent)

    @with_session
    def callback(session: Session, /, **values: Any) -> int:
        # Only who acts pays for the engine.
        from streamops.cli.acting.flow import act, act_on, print_nothing_to_do  # noqa: PLC0415

        choices = take_choices(values)
        if other is not None and _asks_for(other.option, fields):
            return act_on(session, other.prepare(values, choices), choices)
        _name_backup(intent, fields, values)
        try:
            asked = _intent(intent, fields, values, choices)
        except NothingSelectedError:
            return print_nothing_to_do(session, _empty_plan(intent, fields, values), choices)
        return act(session, asked, choices)

    return ActingCommand(
        intent.operation,
        callback=callback,
        params=[*map(param_of, fields), *((other.option,) if other else ())],
        help=intent.help() if intent.asks else f"{intent.help()}\n\n{AT_ONCE}",
        short_help=intent.summary(),
        examples=intent.examples,
        exits=intent.exits,
        rated=intent.rated,
    )


def _asks_for(option: click.Option, fields: Sequence[IntentField]) -> bool:
    """Whether another plan is asked for; raises ``UsageError`` where options of the intent are given beside it."""
    ctx = click.get_current_context()
    if not _is_given(ctx, str(option.name)):
        return False
    beside = [field.flag for field in fields if not field.argument and _is_given(ctx, field.name)]
    if beside:
        given = " and ".join((option.opts[0], *beside))
        raise click.UsageError(f"{given} exclude each other: give one of them", ctx)
    return True


def _intent(
    kind: type[Struct], fields: Sequence[IntentField], values: Mapping[str, Any], choices: Choices
) -> Struct:
    ctx = click.get_current_context()
    for several in exclusive_sets(fields).values():
        given = [field.flag for field in several if _is_given(ctx, field.name)]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} exclude each other: give one of them", ctx)
    note = choices.limits.reason
    if note in REASONS and any(field.flag == "--because" for field in fields) and values["because"] is None:
        raise click.UsageError(
            f"--reason is a note for the audit log: --because {note} selects dead letters of that reason", ctx
        )
    most = choices.limits.max_count
    asked = {field.name: given_value(field, values[field.name], most) for field in fields}
    if any(selects_nothing(field, asked[field.name]) and _is_given(ctx, field.name) for field in fields):
        raise NothingSelectedError
    try:
        return kind(**asked)
    except ValueError as error:
        raise click.UsageError(str(error), ctx) from None


def _name_backup(
    intent: type[OperationIntent], fields: Sequence[IntentField], values: dict[str, Any]
) -> None:
    """Without ``--backup`` the file is a new one in the state directory."""
    for field in fields:
        if field.backup and values[field.name] is None:
            values[field.name] = new_backup(intent.operation, _target(fields, values), os.environ)


def _target(fields: Sequence[IntentField], values: Mapping[str, Any]) -> list[str]:
    return [str(values[field.name]) for field in fields if field.argument and values[field.name]]


def _empty_plan(
    intent: type[OperationIntent], fields: Sequence[IntentField], values: Mapping[str, Any]
) -> Plan:
    """The plan for a selection by IDs of which there are none."""
    target = "/".join(_target(fields, values))
    return Plan(operation=intent.operation, target=target, impact=Impact.REVERSIBLE, count=0)


def _is_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


class _Written(Struct, frozen=True):
    """How values of one kind are written: how click reads one, and what stands for it in the help."""

    type: click.ParamType[Any]
    metavar: str


_WRITTEN: Final = {
    FieldKind.TEXT: _Written(click.STRING, "TEXT"),
    FieldKind.INTEGER: _Written(click.IntRange(min=0), "N"),
    FieldKind.NUMBER: _Written(NUMBER, "N"),
    FieldKind.SPAN: _Written(DURATION, "SPAN"),
    FieldKind.ENTRY_ID: _Written(ENTRY_ID, "ID"),
    FieldKind.INSTANT: _Written(INSTANT, "TIME"),
    FieldKind.PAIR: _Written(FIELD, "FIELD=VALUE"),
}
_NOUNS: Final = {"streams": "STREAM", "groups": "GROUP", "consumers": "CONSUMER"}
_IDS: Final = _Written(IDS, "IDS")
_ACTION: Final = _Written(ACTION_ID, "ID")


def param_of(field: IntentField) -> click.Parameter:
    """A field as click's argument or option."""
    if field.argument:
        return _argument(field)
    return _switch(field) if field.kind is FieldKind.SWITCH else _option(field)


def given_value(field: IntentField, value: Any, most: int | None) -> Any:  # noqa: ANN401 - any field's value
    """What click read, as the intent holds it; raises what ``read_ids`` raises."""
    if value is None:
        return () if field.many and not field.optional else None
    if takes_ids(field):
        words = [value] if isinstance(value, str) else value
        return read_ids(words, field.flag or field.name.upper(), most)
    if field.kind is FieldKind.TEXT and field.many:
        return read_names(value) if value or not field.optional else None
    return field.choice(value) if field.choice is not None else value


def selects_nothing(field: IntentField, value: object) -> bool:
    """Whether IDs that were given turn out to be none, where none at all would mean every entry."""
    return takes_ids(field) and not field.required and not field.optional and value == ()


def exclusive_sets(fields: Sequence[IntentField]) -> dict[str, list[IntentField]]:
    """Fields that exclude each other, by the name of their set."""
    sets: dict[str, list[IntentField]] = {}
    for field in fields:
        if field.exclusive:
            sets.setdefault(field.exclusive, []).append(field)
    return sets


def takes_ids(field: IntentField) -> bool:
    """Whether it holds entry IDs, of which there may be very many."""
    return field.kind is FieldKind.ENTRY_ID and field.many


def _written(field: IntentField) -> _Written:
    if takes_ids(field):
        return _IDS
    if field.completes == "actions":
        return _ACTION
    if field.kind is FieldKind.CHOICE:
        return _Written(click.Choice([str(choice) for choice in field.choices]), "")
    return _WRITTEN[field.kind]


def _argument(field: IntentField) -> click.Argument:
    given: dict[str, Any] = {"nargs": -1} if field.many else {"default": _default(field)}
    return click.Argument(
        [field.name],
        type=_written(field).type,
        required=field.required,
        metavar=field.metavar or ("FIELD=VALUE..." if field.kind is FieldKind.PAIR else None),
        shell_complete=COMPLETIONS.get(field.completes),
        **({} if field.required and not field.many else given),
    )


def _option(field: IntentField) -> click.Option:
    written, default = _written(field), _default(field)
    # Click takes a default of none for a value that was given.
    given = {} if field.required else {"default": default}
    return click.Option(
        [field.flag, field.name],
        type=written.type,
        required=field.required,
        # IDs of one option stand in one word: there may be very many.
        multiple=field.many and not takes_ids(field),
        **given,
        show_default=default not in (None, "", ()),
        metavar=field.metavar or _NOUNS.get(field.completes) or written.metavar or None,
        help=field.help,
        shell_complete=COMPLETIONS.get(field.completes),
    )


def _switch(field: IntentField) -> click.Option:
    names = f"{field.flag}/{field.off}" if field.off else field.flag
    return click.Option(
        [names, field.name],
        is_flag=True,
        default=bool(field.default),
        show_default=bool(field.off),
        help=field.help,
    )


def _default(field: IntentField) -> Any:  # noqa: ANN401 - any field's default
    """A default as it would be written on the command line, so that the help shows it so."""
    match field.default:
        case timedelta():
            return typed_duration(field.default)
        case EntryId() | StrEnum():
            return str(field.default)
        case ():
            return None
    return field.default
