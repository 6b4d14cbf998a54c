"""The whole error tree. Law: every failure a user can meet is one of these, with a hint and an exit code."""

from collections.abc import Iterable
from datetime import timedelta
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
    """A failure asked to a person: one line of what is wrong, one line of what to do.

    Neither line ever holds a secret: the code that raises has redacted it.
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
    """The server could not be asked, or answered with an error.

    Attributes:
        sent: Whether the server may have got what was sent, and done it.
    """

    sent: bool = True

    def copy(self) -> "ServerError":
        """A copy to raise elsewhere: an error that is raised twice grows two tracebacks."""
        other = type(self)(self.message, self.hint)
        other.sent = self.sent
        return other


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


class PublishError(StreamopsError):
    """What cannot be published as it was asked for. Nothing was added."""


class PartlyPublished(StreamopsError):
    """Publishing many stopped before the last.

    Attributes:
        ids: One for each that was to be published; None if it was not added, or if that is not known.
    """

    exit_code = ExitCode.PARTIAL

    def __init__(self, message: str, hint: str, ids: Iterable[str | None]) -> None:
        super().__init__(message, hint)
        self.ids = tuple(ids)


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
        resume: The command line that continues it, set where the connection is known; empty if
            there is none.
    """

    exit_code = ExitCode.PARTIAL

    def __init__(self, message: str, hint: str, outcome: object) -> None:
        super().__init__(message, hint)
        self.outcome = outcome
        self.resume = ""


class Interrupted(ApplyError):
    """An operation was asked to stop, and did between two batches; what it did is known."""

    exit_code = ExitCode.INTERRUPTED


class TargetError(StreamopsError):
    """What runs the workers of a pool refuses, fails, cannot be reached, or tells what cannot be so.

    Attributes:
        retryable: Whether the same call may succeed later, with no change made.
        retry_after: How long it asked to be left alone; None if it did not say.
    """

    def __init__(
        self, message: str, hint: str = "", *, retryable: bool = False, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(message, hint)
        self.retryable = retryable
        self.retry_after = retry_after


class TargetChanged(TargetError):
    """The number of workers is not the one that was decided on any more. Nothing was asked for."""

    exit_code = ExitCode.DRIFTED


class HandlerError(StreamopsError):
    """A handler, or what it was given, is not what it should be."""


class RetryLater(HandlerError):
    """Raised by a handler: try this entry again after a while of its choosing.

    Attributes:
        delay: How long to wait.
        counts: Whether this was an attempt; not if the handler could not even begin.
    """

    def __init__(self, delay: float | timedelta, reason: str = "", *, counts: bool = True) -> None:
        super().__init__(reason or "the handler asked for another try")
        self.delay = delay if isinstance(delay, timedelta) else timedelta(seconds=delay)
        self.counts = counts


class Reject(HandlerError):
    """Raised by a handler: this entry can never be handled; it goes to the dead letters at once."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason or "the handler rejected it")


class Skip(HandlerError):
    """Raised by a handler: there is nothing to do for this entry; it is acknowledged."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason or "the handler skipped it")


def known_hint(word: str, known: Iterable[str], what: str = "keys") -> str:
    """The hint for a word that is none of the known ones: the closest of them, if any is close, and the list.

    The word itself is not repeated: it may be a secret in the wrong place.
    """
    names = sorted(known)
    longer = [name for name in names if word and name.startswith(word)]
    close = longer if len(longer) == 1 else get_close_matches(word, names, n=1) or longer
    question = f"Did you mean {close[0]}? " if close else ""
    return f"{question}Known {what}: {', '.join(names) or 'none'}."
