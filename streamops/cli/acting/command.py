"""``acting_command``: an intent's type as a command that plans, asks and acts."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource
from msgspec import Struct

from streamops.cli.acting.choices import ACTING_OPTIONS, RATE_OPTION, Choices, take_choices
from streamops.cli.command import Command, write_options
from streamops.cli.options import given_value, param_of, takes_ids
from streamops.cli.session import Session, with_session
from streamops.model.acting import Impact, OperationIntent, Plan
from streamops.model.fields import IntentField, intent_fields
from streamops.settings.state import new_backup

if TYPE_CHECKING:
    from streamops.cli.acting.flow import Prepare

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
