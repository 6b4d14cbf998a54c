"""The command line of an intent, by the fields that the command line is made of itself, and with what the operation does not know of."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from streamops.model.acting import Limits
from streamops.model.fields import FieldKind, IntentField, intent_fields
from streamops.model.measures import typed_duration
from streamops.model.wording import command, quoted
from streamops.operations.registry import command_words

NAMED: Final = 20
"""IDs that are written out at most; more are read from stdin."""
STDIN: Final = "-"


def equivalent_command(operation: str, intent: Struct) -> str:
    """A line of shell that asks for the same, what is as it would be anyway left out, but for spans.

    How long something has to be idle, or holds, is what one looks for in a line that is kept or handed on.

    Args:
        operation: The operation's name.
        intent: What is asked for.
    """
    names: list[str] = []
    options: list[str] = []
    for field in intent_fields(type(intent)):
        value = getattr(intent, field.name)
        if field.argument:
            names += _words(field, value)
        elif value != field.default or (field.kind is FieldKind.SPAN and value):
            options += _option(field, value)
    return command(command_words(operation), *names, options=" ".join(options))


def _option(field: IntentField, value: Any) -> Iterator[str]:  # noqa: ANN401 - any field's value
    if field.kind is FieldKind.SWITCH:
        yield field.flag if value else field.off
        return
    for word in _words(field, value):
        yield f"{field.flag} {quoted(word)}"


def _words(field: IntentField, value: Any) -> list[str]:  # noqa: ANN401 - any field's value
    """A value as the words of a command line; one of many each, but entry IDs all in one."""
    if not field.many:
        return [_word(value)]
    if field.kind is not FieldKind.PAIR and len(value) > NAMED:
        return [STDIN]
    words = [_word(one) for one in value]
    return [",".join(words)] if field.kind is FieldKind.ENTRY_ID else words


def _word(value: Any) -> str:  # noqa: ANN401 - one value of any field
    match value:
        case timedelta():
            return typed_duration(value)
        case datetime():
            return value.isoformat()
        case (bytes() as name, bytes() as content):
            return (name + b"=" + content).decode("utf-8", "surrogateescape")
    return str(value)


def _limit_options(limits: Limits) -> Iterator[str]:
    if limits.max_count is not None:
        yield f"--max {limits.max_count}"
    if limits.reason:
        yield f"--reason {quoted(limits.reason)}"
    if limits.rate is not None:
        yield f"--rate {limits.rate:.15g}/s"


PROGRAM = "streamops "
WORD = re.compile(r"""(?:\$'(?:\\.|[^'\\])*'|'[^']*'|"[^"]*"|\S)+""")
"""A word of a shell, with the quotes that ``quoted`` puts around parts of it."""


def full_command(command: str, selector: Sequence[str], limits: Limits | None = None) -> str:
    """A plan's command line with what the operation does not know of.

    Args:
        command: The command line as the operation words it; empty for none.
        selector: The options that choose the server; none at all if it is the default one.
        limits: What the operator insists on; of that, what would be so for another plan too.
    """
    if not command.startswith(PROGRAM):
        return command
    words = WORD.findall(command.removeprefix(PROGRAM))
    # After ``--`` there are only names.
    end = words.index("--") if "--" in words else len(words)
    words[end:end] = _limit_options(limits or Limits())
    return PROGRAM + " ".join([*map(quoted, selector), *words])
