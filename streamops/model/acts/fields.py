"""How an intent's field is asked for: its help, and what a face has to know beyond its type.

The types that faces know: ``str``, ``int``, ``float``, ``bool``, ``timedelta`` (a span), ``EntryId``,
``Moment`` (an instant, or how long ago), a ``StrEnum`` (a choice), ``tuple[EntryId, ...]`` (IDs, also from
stdin), ``tuple[str, ...]`` (names, the same), ``tuple[tuple[bytes, bytes], ...]`` (``FIELD=VALUE`` again and
again), each also with ``| None``.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from unicodedata import category

from msgspec import Meta

UNSEEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Categories of characters that command a terminal or show nothing: controls, formats, line and paragraph ends."""

Moment = datetime | timedelta
"""An instant, or how long ago by the server's clock."""


def argument(text: str, completes: str = "", *, metavar: str = "") -> Meta:
    """A positional argument.

    ``completes`` names what a shell offers: ``streams``, ``groups``, ``consumers``, ``queues``, ``actions``, ``jobs``.
    """
    return _meta(text, {"argument": True, "completes": completes, "metavar": metavar})


def option(
    text: str,
    flag: str = "",
    *,
    metavar: str = "",
    completes: str = "",
    exclusive: str = "",
    off: str = "",
    example: str = "",
) -> Meta:
    """An option.

    Args:
        text: Its help, a sentence.
        flag: Its name; the field's own with hyphens unless given.
        metavar: What stands for its value; chosen by its type unless given.
        completes: What a shell offers.
        exclusive: Options of one such name exclude each other.
        off: The flag that turns a boolean off, where there is one.
        example: A value as one would type it, where a form asks for it.
    """
    return _meta(
        text,
        {
            "flag": flag,
            "metavar": metavar,
            "completes": completes,
            "exclusive": exclusive,
            "off": off,
            "example": example,
        },
    )


def backup_file(what: str) -> Meta:
    """The file that is written before something is lost: one in the state directory unless another is named."""
    text = f"Write {what} to this new file first, in place of one in the state directory."
    return _meta(text, {"metavar": "FILE", "backup": True})


def inner(text: str) -> Meta:
    """A field that no face asks for: a job's own bounds."""
    return _meta(text, {"inner": True})


def is_readable(name: str) -> bool:
    """Whether a name shows something and commands no terminal; bytes that are no UTF-8 are shown escaped."""
    return bool(name.strip()) and not any(category(character) in UNSEEN for character in name)


def require_name(what: str, name: str) -> None:
    """Refuse a name that no one could read or type again.

    Raises:
        ValueError: It is blank, or holds control characters; ``what`` says how it was given.
    """
    if not is_readable(name):
        raise ValueError(f"{what}: a name is not blank and holds no control characters; write worker-1")


def _meta(text: str, marks: Mapping[str, Any]) -> Meta:
    return Meta(description=text, extra=dict(marks))
