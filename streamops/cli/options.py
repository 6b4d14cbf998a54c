"""Commands and their parameters, made of annotated fields: those of intents, and those of functions."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Final, get_args

import click
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from streamops.cli.command import Command
from streamops.cli.ids import IDS, read_ids, read_names
from streamops.cli.params import ACTION_ID, COMPLETIONS, DURATION, ENTRY_ID, FIELD, INSTANT, NUMBER
from streamops.cli.session import Session, with_session
from streamops.model.entries import EntryId
from streamops.model.fields import FieldKind, IntentField, field_of
from streamops.model.measures import typed_duration

Function = Callable[..., int | None]


def command(kind: type[Command] = Command, **attributes: Any) -> Callable[[Function], Command]:
    """Make a command of a function: its docstring is the help, its annotated parameters are arguments and options.

    A parameter is annotated with ``argument`` or ``option`` as a field of an intent is, and with a type of click if
    its own type does not say how a value is written; a struct brings the parameters that its fields are. The first
    one is the session.

    Args:
        kind: The command's class.
        attributes: What that takes besides: examples, exit codes.
    """

    def make(function: Function) -> Command:
        own = signature(function).parameters.values()
        structs = {one.name: one.annotation for one in own if _is_struct(one.annotation)}

        @with_session
        @wraps(function)
        def callback(session: Session, /, **values: Any) -> int | None:
            for name, struct in structs.items():
                values[name] = struct(**{field.name: values.pop(field.name) for field in fields(struct)})
            return function(session, **values)

        params = [param for one in own for param in _params(one.name, one.annotation, one.default)]
        params += attributes.pop("params", ())
        return click.command(cls=kind, params=params, **attributes)(callback)

    return make


def _is_struct(annotation: object) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Struct)


def _params(name: str, annotation: Any, default: object) -> Iterator[click.Parameter]:  # noqa: ANN401 - any annotation
    if _is_struct(annotation):
        for one in fields(annotation):
            yield from _params(one.name, one.type, one.default)
        return
    written = next((one for one in get_args(annotation) if isinstance(one, click.ParamType)), None)
    required = NODEFAULT if default is Parameter.empty else default
    field = field_of(name, annotation, required, FieldKind.TEXT if written else None)
    if field is not None:
        yield param_of(field, written)


class EnumChoice(click.Choice[str]):
    """A member of an enumeration, by its value."""

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__([str(one) for one in kind])
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StrEnum:  # noqa: ANN401 - as click has it
        """Read it; fails as a usage error."""
        return self._kind(super().convert(value, param, ctx))


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


def param_of(field: IntentField, kind: click.ParamType[Any] | None = None) -> click.Parameter:
    """A field as click's argument or option.

    Args:
        field: The field.
        kind: How one value is written; told by the field's kind unless given.
    """
    if field.kind is FieldKind.SWITCH:
        return _switch(field)
    written = _Written(kind, "N" if isinstance(kind, click.IntRange) else "") if kind else _written(field)
    return _argument(field, written.type) if field.argument else _option(field, written)


def given_value(field: IntentField, value: Any, most: int | None) -> Any:  # noqa: ANN401 - any field's value
    """What click read, as the intent holds it; raises what ``read_ids`` raises."""
    if value is None:
        return () if field.many and not field.optional else None
    if takes_ids(field):
        words = [value] if isinstance(value, str) else value
        return read_ids(words, field.flag or field.name.upper(), most)
    if field.kind is FieldKind.TEXT and field.many:
        return read_names(value) if value or not field.optional else None
    return value


def takes_ids(field: IntentField) -> bool:
    """Whether it holds entry IDs, of which there may be very many."""
    return field.kind is FieldKind.ENTRY_ID and field.many


def _written(field: IntentField) -> _Written:
    if takes_ids(field):
        return _IDS
    if field.completes == "actions":
        return _ACTION
    if field.choice is not None:
        return _Written(EnumChoice(field.choice), "")
    return _WRITTEN[field.kind]


def _argument(field: IntentField, kind: click.ParamType[Any]) -> click.Argument:
    given: dict[str, Any] = {"nargs": -1} if field.many else {"default": _default(field)}
    return click.Argument(
        [field.name],
        type=kind,
        required=field.required,
        metavar=field.metavar or ("FIELD=VALUE..." if field.kind is FieldKind.PAIR else None),
        shell_complete=COMPLETIONS.get(field.completes),
        **({} if field.required and not field.many else given),
    )


def _option(field: IntentField, written: _Written) -> click.Option:
    default = _default(field)
    # Click takes a default of none for a value that was given.
    given = {} if field.required else {"default": default}
    return click.Option(
        [field.flag, field.name],
        type=written.type,
        required=field.required,
        # IDs of one option stand in one word: there may be very many.
        multiple=field.many and not takes_ids(field),
        **given,
        show_default=default not in (None, "", (), 0),
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
