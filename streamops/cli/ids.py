"""``--ids``: entry IDs on the command line, or from stdin as lines, words or JSON lines."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import click
import msgspec

from streamops.errors import Forbidden
from streamops.model.acting import LARGEST_SELECTION
from streamops.model.entries import EntryId
from streamops.model.text import name_text

STDIN: Final = "-"
NO_ROW: Final = "not a JSON object with an `id`"


class InputError(click.UsageError):
    """What stands on stdin cannot be read.

    Attributes:
        hint: What can be.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, click.get_current_context(silent=True))
        self.hint = hint


class IdsType(click.ParamType[str]):
    """Entry IDs with commas between, or ``-`` for stdin; they are read once all flags are known."""

    name = "ids"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check what stands on the command line; fails as a usage error."""
        if value != STDIN:
            try:
                list(_parsed([value]))
            except ValueError as error:
                self.fail(f"{error}. Write 1526919030474-0,1526919030475-0, or - to read them.", param, ctx)
        return value


IDS: Final = IdsType()


def read_ids(words: Sequence[str], flag: str, most: int | None = None) -> tuple[EntryId, ...]:
    """The IDs that were given, or those on stdin, each once, in their order.

    Args:
        words: What was given, as ``IDS`` let it through.
        flag: How it was given, for errors.
        most: Allow so many where that is more than the bound on every selection.

    Raises:
        InputError: A line of stdin holds none.
        Forbidden: There are too many.
    """
    bound = max(most or 0, LARGEST_SELECTION)
    found: dict[EntryId, None] = {}
    try:
        for entry_id in _parsed(sys.stdin if STDIN in words else words):
            found[entry_id] = None
            if len(found) > bound:
                raise Forbidden(
                    f"{flag}: more than {bound:,} IDs",
                    "Nothing was done. Narrow the selection, or allow more with --max N.",
                )
    except ValueError as error:
        raise InputError(f"{flag}: {error}", "Pipe `-o jsonl`, or one ID a line.") from None
    return tuple(found)


def read_names(words: Sequence[str]) -> tuple[str, ...]:
    """Names as they were given, where one of them is ``-`` those on stdin: JSON lines with ``id``, or one a line.

    Raises:
        InputError: A JSON line of stdin has none.
    """
    if STDIN not in words:
        return tuple(words)
    names: list[str] = []
    for number, line in enumerate(sys.stdin, 1):
        try:
            names += [_name(text)] if (text := line.rstrip("\r\n")) else []
        except msgspec.MsgspecError:
            raise InputError(
                f"stdin: line {number}: {NO_ROW}", "Pipe `-o jsonl`, or one name a line."
            ) from None
    return tuple(names)


class _Binary(msgspec.Struct):
    """A name that is not UTF-8, as JSON output has it."""

    base64: bytes


class _Named(msgspec.Struct):
    """What is read of a JSON line, such as those of ``delayed ls -o jsonl``."""

    id: str | _Binary


def _name(line: str) -> str:
    if not line.startswith("{"):
        return line
    name = msgspec.json.decode(line, type=_Named).id
    return name if isinstance(name, str) else name_text(name.base64)


def _parsed(lines: Iterable[str]) -> Iterator[EntryId]:
    """The IDs of lines; raises ``ValueError`` that names the line where one is none."""
    for number, line in enumerate(lines, 1):
        try:
            yield from map(EntryId.parse, _words(line))
        except ValueError as error:
            where = "" if lines is not sys.stdin else f"line {number}: "
            why = NO_ROW if isinstance(error, msgspec.MsgspecError) else error
            raise ValueError(f"{where}{why}") from None


class _Row(msgspec.Struct):
    """What is read of a JSON line, such as those of ``pending ls -o jsonl``."""

    id: str


def _words(line: str) -> list[str]:
    if line.lstrip().startswith("{"):
        return [msgspec.json.decode(line, type=_Row).id]
    return line.replace(",", " ").split()
