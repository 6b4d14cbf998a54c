"""The whole error tree. Law: every failure a user can meet is one of these, with a hint and an exit code."""

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line; scripts may rely on them."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    CANNOT_CONNECT = 3
    REFUSED = 4
    PARTIAL = 5
    DRIFTED = 6
    BREACHED = 10
    NOT_KNOWN = 11
    INTERRUPTED = 130


class StreamopsError(Exception):
    """A failure told to a person: one line of what is wrong, one line of what to do.

    Neither line ever holds a secret: whoever raises has redacted it.
    """

    exit_code: ExitCode = ExitCode.FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SettingsError(StreamopsError):
    """A flag, environment variable, URL or configuration file cannot be understood."""

    exit_code = ExitCode.USAGE


class ServerError(StreamopsError):
    """The server could not be asked, or answered with an error."""


class Unreachable(ServerError):
    """No connection, or none that answers in time. Retrying may help."""

    exit_code = ExitCode.CANNOT_CONNECT


class Refused(ServerError):
    """The server turned the user away: wrong password, or a permission the ACL does not grant."""

    exit_code = ExitCode.REFUSED


class Unsupported(ServerError):
    """The server does not have the command, or not in the form that is needed."""


class UnexpectedReply(ServerError):
    """The server answered something that this version cannot decode."""


class NotFound(ServerError):
    """No such stream, group, consumer or entry, or the key is of another type."""


class PlanError(StreamopsError):
    """An intent that cannot be planned, or a plan that cannot be applied. Nothing was written."""


class Forbidden(PlanError):
    """Not allowed: read-only, more than was agreed to, no consent, or no safe way to do it."""

    exit_code = ExitCode.REFUSED


class StalePlan(PlanError):
    """The server is no longer in the state that the plan was made from."""

    exit_code = ExitCode.DRIFTED


class ApplyError(StreamopsError):
    """An operation stopped between its first write and its last.

    Attributes:
        outcome: What was done until then, as an ``Outcome``.
    """

    exit_code = ExitCode.PARTIAL

    def __init__(self, message: str, hint: str, outcome: object) -> None:
        super().__init__(message, hint)
        self.outcome = outcome


class Interrupted(ApplyError):
    """An operation was asked to stop, and did between two batches; what it did is known."""

    exit_code = ExitCode.INTERRUPTED


def known_hint(word: str, known: Iterable[str], what: str = "keys") -> str:
    """The hint for a word that is none of the known ones: the closest of them, if any is close, and the list.

    The word itself is not repeated: it may be a secret in the wrong place.
    """
    names = sorted(known)
    close = get_close_matches(word, names, n=1) or [name for name in names if word and name.startswith(word)]
    question = f"Did you mean {close[0]}? " if close else ""
    return f"{question}Known {what}: {', '.join(names) or 'none'}."
