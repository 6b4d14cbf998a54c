"""``acting_command``: an intent's type as a command that plans, asks and acts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import click
from click.core import ParameterSource
from msgspec import Struct

from streamops.cli.acting.choices import ACTING_OPTIONS, RATE_OPTION, Choices, take_choices
from streamops.cli.acting.fields import exclusive_sets, given_value, param_of, selects_nothing
from streamops.cli.command import Command, write_options
from streamops.cli.session import Session, with_session
from streamops.model.acting import Plan, Tier
from streamops.present.intents import IntentField, intent_fields

ACTING_EXITS: Final = {
    0: "done, or the plan was shown",
    1: "failed; no such stream, group or consumer",
    4: "refused: read-only, not permitted, not agreed to",
    5: "done in part; where it can be resumed, the token is told",
    6: "the server is no longer as the plan saw it; nothing was done",
}


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

    def format_members(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of acting."""
        write_options(formatter, "Acting", self.shared, ctx)


def acting_command(
    intent: type[Struct],
    name: str,
    summary: str,
    *,
    help: str,  # noqa: A002 - click's own word
    examples: Sequence[tuple[str, str]],
    exits: Mapping[int, str] | None = None,
    rated: bool = False,
    fill: Callable[[dict[str, Any]], None] | None = None,
) -> ActingCommand:
    """Make a command of an intent's type: its flags are the type's annotated fields.

    Args:
        intent: The type; a ``ValueError`` of its construction is a usage error.
        name: The command's name.
        summary: Its one line in its family's help.
        help: What it does, in a few sentences.
        examples: Command lines and what each does.
        exits: Exit codes that mean something of their own here.
        rated: Whether ``--rate`` makes sense: it may be a long job.
        fill: Fills in values that were not given; it is handed all of them by name.
    """
    fields = intent_fields(intent)

    @with_session
    def callback(session: Session, /, **values: Any) -> int:
        # Only who acts pays for the engine.
        from streamops.cli.acting.flow import act, tell_nothing  # noqa: PLC0415

        choices = take_choices(values)
        if fill is not None:
            fill(values)
        try:
            asked = _intent(intent, fields, values, choices)
        except NothingSelectedError:
            return tell_nothing(session, _empty_plan(fields, values), choices)
        return act(session, asked, choices)

    return ActingCommand(
        name,
        callback=callback,
        params=[param_of(field) for field in fields],
        help=help,
        short_help=summary,
        examples=examples,
        exits=exits,
        rated=rated,
    )


def _intent(
    kind: type[Struct], fields: Sequence[IntentField], values: Mapping[str, Any], choices: Choices
) -> Struct:
    ctx = click.get_current_context()
    for several in exclusive_sets(fields).values():
        given = [field.flag for field in several if _is_given(ctx, field.name)]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} exclude each other: give one of them", ctx)
    most = choices.limits.max_count
    asked = {field.name: given_value(field, values[field.name], most) for field in fields}
    if any(selects_nothing(field, asked[field.name]) and _is_given(ctx, field.name) for field in fields):
        raise NothingSelectedError
    try:
        return kind(**asked)
    except ValueError as error:
        raise click.UsageError(str(error), ctx) from None


def _empty_plan(fields: Sequence[IntentField], values: Mapping[str, Any]) -> Plan:
    """The plan for a selection by IDs of which there are none."""
    words = click.get_current_context().command_path.split()[1:]
    target = "/".join(str(values[field.name]) for field in fields if field.argument and values[field.name])
    return Plan(operation=".".join(words), target=target, tier=Tier.REVERSIBLE, count=0)


def _is_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
