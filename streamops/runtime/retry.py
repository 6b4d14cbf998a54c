"""What becomes of an entry after its handler ran. Pure: (attempt, error, chance) to an ``EntryOutcome``.

Schedules say how long to wait after the n-th failure. They are data or plain functions, so that any table, any
formula and any test can stand in for them.
"""

import traceback
import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import StrEnum
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from msgspec import Struct

from streamops.errors import HandlerError, Reject, RetryLater, SettingsError, Skip
from streamops.model.schedules import Backoff
from streamops.model.text import encodable

Seconds = float | timedelta
Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Schedule = Callable[[int, float], Seconds]
"""How long to wait after failure ``n`` (from 1 on), given a random number of [0, 1)."""

LONGEST_ERROR: Final = 2000
"""Characters of an error that a dead letter keeps."""
LONGEST_DELAY: Final = timedelta(days=3650)
"""What a longer wait is cut to, so that its end is a date."""


class Jitter(StrEnum):
    """How much chance is in a delay."""

    NONE = "none"
    PART = "part"
    """The delay, and up to as much as ``base`` more."""
    FULL = "full"
    """Anything from nothing to the delay: the best against herds."""


class Exponential(Struct, frozen=True):
    """``min(base * factor ** (n - 1) + jitter, cap)``.

    Attributes:
        base: The first delay.
        cap: The longest.
        factor: By how much each is longer than the one before.
        jitter: How much chance is in it.
    """

    base: Seconds = 1.0
    cap: Seconds = 60.0
    factor: float = 2.0
    jitter: Jitter = Jitter.PART

    def __post_init__(self) -> None:
        if min(seconds(self.base, "base"), seconds(self.cap, "cap"), self.factor) < 0:
            raise SettingsError(f"{self} goes backwards", "Base, cap and factor are not negative.")

    def __call__(self, failures: int, chance: float) -> timedelta:
        """How long to wait after that many failures."""
        base, cap = seconds(self.base), seconds(self.cap)
        plain = Backoff(base, cap, self.factor).pause(failures)
        if self.jitter is Jitter.FULL:
            return timedelta(seconds=plain * chance)
        more = base * chance if self.jitter is Jitter.PART else 0.0
        return timedelta(seconds=min(plain + more, cap))


class Delays(Struct, frozen=True):
    """A list of delays; the last of them again and again.

    Attributes:
        delays: The first failure's, the second's, and so on; not empty.
    """

    delays: tuple[Seconds, ...]

    def __post_init__(self) -> None:
        if not self.delays:
            raise SettingsError(
                "a list of delays is empty", "Give one at least; retry=None is for no second try."
            )
        if min(seconds(delay, "a delay") for delay in self.delays) < 0:
            raise SettingsError(f"{self.delays} has a negative delay", "Seconds: 0 tries again at once.")

    def __call__(self, failures: int, chance: float) -> timedelta:  # noqa: ARG002 - a schedule's signature
        """How long to wait after that many failures."""
        return timedelta(seconds=seconds(self.delays[min(failures, len(self.delays)) - 1]))


class Linear(Struct, frozen=True):
    """``first``, then each time ``step`` longer: ``Linear(60, 120)`` waits for 1, 3, 5, ... minutes.

    Attributes:
        first: The first delay.
        step: By how much each is longer than the one before.
    """

    first: Seconds
    step: Seconds

    def __post_init__(self) -> None:
        if min(seconds(self.first, "first"), seconds(self.step, "step")) < 0:
            raise SettingsError(f"{self} goes backwards", "First and step are not negative.")

    def __call__(self, failures: int, chance: float) -> timedelta:  # noqa: ARG002 - a schedule's signature
        """How long to wait after that many failures."""
        return timedelta(seconds=seconds(self.first) + (failures - 1) * seconds(self.step))


def former_odd_minutes() -> Linear:
    """What the name ``OddMinutes`` still gives in this release: 1, 3, 5, ... minutes."""
    warn_of_former("OddMinutes()", "Linear(60, 120)")
    return Linear(60, 120)


class Retry(Struct, frozen=True):
    """What to do with an entry whose handler fails.

    Attributes:
        schedule: How long to wait after each failure; none for no second attempt.
        max_attempts: How many times the handler starts at most.
        in_place: Whether the entry stays pending with this worker until then; otherwise it moves into the delayed
            queue, from where any worker of the group takes it.
        no_retry_on: Errors that no second attempt can help.
    """

    schedule: Schedule | None
    max_attempts: int = 5
    in_place: bool = False
    no_retry_on: tuple[type[BaseException], ...] = ()


class Disposition(StrEnum):
    """What may become of an entry."""

    ACKNOWLEDGE = "acknowledge"
    DELAY = "delay"
    """Into the delayed queue, from where any worker of the group takes it."""
    WAIT = "wait"
    """It stays pending with this worker until its next try."""
    DEAD_LETTER = "dead-letter"


class EntryOutcome(Struct, frozen=True):
    """What becomes of an entry.

    Attributes:
        fate: What.
        error: Why, in one line; empty if it is acknowledged.
        delay: How long until its next try, if it has one.
        counts: Whether the try that failed counts as an attempt.
        reason: Why it is given up, in one word.
    """

    fate: Disposition
    error: str = ""
    delay: timedelta = timedelta()
    counts: bool = True
    reason: str = ""


ACKNOWLEDGE: Final = EntryOutcome(Disposition.ACKNOWLEDGE)
MAX_DELIVERIES: Final = "max-deliveries"
REJECTED: Final = "rejected"
UNDECODABLE: Final = "undecodable"
PAYLOAD_MISSING: Final = "payload-missing"
TIMEOUT: Final = "timeout"


def dead_letter(reason: str, error: str) -> EntryOutcome:
    """It is given up."""
    return EntryOutcome(Disposition.DEAD_LETTER, error, reason=reason)


def retry_after(delay: timedelta, error: str, *, counts: bool = True) -> EntryOutcome:
    """It is tried again, from now on and within the longest delay."""
    return EntryOutcome(Disposition.DELAY, error, max(timedelta(0), min(delay, LONGEST_DELAY)), counts)


def decide(retry: Retry, attempt: int, error: BaseException | None, chance: float) -> EntryOutcome:
    """What becomes of an entry.

    Args:
        retry: The handler's policy.
        attempt: Which start of the handler this was, from 1 on.
        error: What it raised; None if it returned.
        chance: A random number of [0, 1).
    """
    if error is None or isinstance(error, Skip):
        return ACKNOWLEDGE
    for kind, reason in NO_RETRY:
        if isinstance(error, kind):
            return dead_letter(reason, words(error))
    if isinstance(error, RetryLater) and not error.counts:
        return retry_after(error.delay, words(error), counts=False)
    timed_out = isinstance(error, HandlerTimeout)
    if attempt >= retry.max_attempts:
        return dead_letter(TIMEOUT if timed_out else MAX_DELIVERIES, words(error))
    if isinstance(error, RetryLater):
        return retry_after(error.delay, words(error))
    if retry.schedule is None or isinstance(error, retry.no_retry_on):
        return dead_letter(TIMEOUT if timed_out else REJECTED, words(error))
    try:
        delay = seconds(retry.schedule(attempt, chance), "the schedule's answer")
    except Exception as problem:  # noqa: BLE001 - a user's function may raise anything; the entry is not to blame
        return retry_after(Exponential()(attempt, chance), f"{words(error)}; its schedule: {words(problem)}")
    return retry_after(timedelta(seconds=min(delay, LONGEST_DELAY.total_seconds())), words(error))


class Undecodable(HandlerError):
    """An entry is not what its handler takes."""


class PayloadMissing(HandlerError):
    """The payload that an entry refers to is gone."""


class HandlerTimeout(HandlerError):
    """A handler ran longer than it may."""


NO_RETRY: Final = ((Reject, REJECTED), (Undecodable, UNDECODABLE), (PayloadMissing, PAYLOAD_MISSING))
"""Errors that no second attempt can help, whatever the policy."""


def words(error: BaseException) -> str:
    """An error in one line that can be sent: its kind, unless it is one of ours, and what it says.

    If it cannot say anything, its kind is all there is to tell.
    """
    try:
        text = encodable(" ".join(str(error).split()))
    except Exception:  # noqa: BLE001 - a user's error may raise anything
        text = ""
    kind = "" if text and isinstance(error, HandlerError) else type(error).__name__
    return ": ".join(filter(None, (kind, text)))[:LONGEST_ERROR]


def raised_at(error: BaseException) -> str:
    """Where an error was raised: the last line of the trace that is not the import machinery's."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<frozen")
    ]
    last = frames[-1] if frames else None
    return f"{Path(last.filename).name}, line {last.lineno}" if last else "its first line"


def seconds(value: object, what: str = "a duration") -> float:
    """A duration in seconds.

    Raises:
        SettingsError: It is none.
    """
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (int, float)) and isfinite(value):
        return float(value)
    raise SettingsError(
        f"{what} is {value!r}, no duration",
        "Give seconds, such as 30 or 0.5, or a timedelta; retry= takes a list of them or a schedule such as Exponential() too.",
    )


def warn_of_former(former: str, name: str) -> None:
    """Say that something has another name now; the former one works in this release only."""
    message = f"{former} is {name} now; the next release does not know the former name"
    warnings.warn(message, DeprecationWarning, stacklevel=3)


def with_former_names(**names: str) -> Callable[[Decorated], Decorated]:
    """Let a function take keyword arguments by their former names, too; ``names`` gives the present ones."""

    def decorate(function: Decorated) -> Decorated:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the function says
            for former in names.keys() & options.keys():
                warn_of_former(f"{former}=", f"{names[former]}=")
                if names[former] in options:
                    raise SettingsError(
                        f"{former}= and {names[former]}= are the same", "Give the latter alone."
                    )
                options[names[former]] = options.pop(former)
            return function(*arguments, **options)

        return cast("Decorated", call)

    return decorate


def schedule_of(value: Schedule | Sequence[Seconds] | Seconds | None) -> Schedule | None:
    """A schedule from what a user may give for one: a schedule, a list of delays, or one delay for all.

    Raises:
        SettingsError: It is none of these.
    """
    if value is None or callable(value):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str):
        return Delays(tuple(value))
    return Delays((value,))
