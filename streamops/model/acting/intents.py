"""Intents: what an operation is asked for, with what is said of it once for every face."""

from collections.abc import Mapping
from inspect import cleandoc
from typing import ClassVar

from msgspec import Struct

from streamops.model.acting.plans import Impact


class OperationIntent(Struct, frozen=True, kw_only=True):
    """What one operation is asked for. Its docstring's first line sums it up, the rest is its help.

    Attributes:
        operation: The operation's name, whose parts are its command's: ``claim``, ``groups.destroy``.
        impact: How much it changes, unless its plan knows better.
        examples: Command lines and what each does.
        exits: Exit codes of its command that mean something of their own.
        rated: Whether it may take long, so that a bound and a rate are asked for.
    """

    operation: ClassVar[str]
    impact: ClassVar[Impact]
    examples: ClassVar[tuple[tuple[str, str], ...]] = ()
    exits: ClassVar[Mapping[int, str]] = {}
    rated: ClassVar[bool] = False

    @classmethod
    def summary(cls) -> str:
        """What it does, in one line."""
        return _paragraphs(cls)[0]

    @classmethod
    def help(cls) -> str:
        """What it does, in a few sentences."""
        return "\n\n".join(_paragraphs(cls)[1:])


def _paragraphs(intent: type[OperationIntent]) -> list[str]:
    """Those of a docstring that are not about Python."""
    return cleandoc(intent.__doc__ or "").partition("\n\nRaises:")[0].split("\n\n")
