"""Which streams and consumers are shown, so that the number of series stays bounded. Pure; what is left out is counted."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Final, TypeVar

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.name_patterns import NamePattern, name_pattern
from streamops.model.observation import StreamView
from streamops.model.streams import MILLISECOND, ConsumerColumns, Members
from streamops.model.text import encodable

Subject = TypeVar("Subject")

Omitted = Counter[tuple[str, ...]]
"""Subjects left out, by scope and reason."""

MOST_STREAMS: Final = 2_000
MOST_CONSUMERS: Final = 200
UNSEEN_AFTER: Final = timedelta(minutes=15) // MILLISECOND

LONGEST_NAME: Final = 1024
"""Characters of a name that is shown. It is in every series of its subject, and is untrusted input."""


class Granularity(StrEnum):
    """Down to what there are metrics."""

    STREAM = "stream"
    GROUP = "group"
    CONSUMER = "consumer"


class Reason(StrEnum):
    """Why something is left out."""

    PATTERN = "pattern"
    MAX_STREAMS = "max_streams"
    MAX_CONSUMERS = "max_consumers"
    UNSEEN = "unseen"
    GRANULARITY = "granularity"
    SAME_NAME = "same_name"
    MAX_NAME = "max_name"


class SeriesLimits(Struct, frozen=True, kw_only=True):
    """Limits of what is shown.

    Attributes:
        include: Regular expressions; a stream is shown where one matches its whole name. None means all.
        exclude: The same for streams to leave out; they win.
        max_streams: At most so many streams, those with the greatest lag.
        unseen_after: A consumer with nothing pending is shown for so many milliseconds after it was seen.
        max_consumers: At most so many consumers of a group: those with pending entries, then those seen last.
        granularity: Down to what there are metrics.
    """

    include: tuple[NamePattern, ...] = ()
    exclude: tuple[NamePattern, ...] = ()
    max_streams: int = MOST_STREAMS
    unseen_after: int = UNSEEN_AFTER
    max_consumers: int = MOST_CONSUMERS
    granularity: Granularity = Granularity.CONSUMER

    @property
    def shows_groups(self) -> bool:
        """Whether there are metrics of groups."""
        return self.granularity is not Granularity.STREAM

    @property
    def shows_consumers(self) -> bool:
        """Whether there are metrics of consumers."""
        return self.granularity is Granularity.CONSUMER


NO_LIMITS: Final = SeriesLimits()


def compile_patterns(patterns: Sequence[str], setting: str) -> tuple[NamePattern, ...]:
    """Regular expressions from a setting.

    Args:
        patterns: Their texts.
        setting: What the setting is called, for the error.

    Raises:
        SettingsError: One of them is none.
    """
    return tuple([_compiled(pattern, setting) for pattern in patterns])


def wants(guards: SeriesLimits, name: str) -> bool:
    """Whether the patterns let a stream through."""
    text = encodable(name)
    if any(pattern.fullmatch(text) for pattern in guards.exclude):
        return False
    return not guards.include or any(pattern.fullmatch(text) for pattern in guards.include)


def shown_streams(
    guards: SeriesLimits, views: Sequence[StreamView], omitted: Omitted
) -> Sequence[StreamView]:
    """The streams to show, in their order."""
    shown = views
    if guards.include or guards.exclude:
        shown = [view for view in views if wants(guards, view.stream.name)]
        note(omitted, "stream", Reason.PATTERN, len(views) - len(shown))
    if len(shown) > guards.max_streams:
        chosen = sorted(range(len(shown)), key=lambda at: (-_lag(shown[at]), at))[: guards.max_streams]
        note(omitted, "stream", Reason.MAX_STREAMS, len(shown) - guards.max_streams)
        shown = [shown[at] for at in sorted(chosen)]
    return shown


def shown_consumers(guards: SeriesLimits, members: Members, omitted: Omitted) -> ConsumerColumns:
    """The consumers of a group to show, in their order."""
    told, most, since = members.sightings, guards.max_consumers, members.now - guards.unseen_after
    pending, seen = told.pending, told.seen
    if not seen or (len(seen) <= most and min(seen) >= since):
        return told
    shown = [at for at, when in enumerate(seen) if pending[at] or when >= since]
    note(omitted, "consumer", Reason.UNSEEN, len(seen) - len(shown))
    if len(shown) > most:
        note(omitted, "consumer", Reason.MAX_CONSUMERS, len(shown) - most)
        by_worth = sorted(shown, key=lambda at: (not pending[at], -seen[at]))
        shown = sorted(by_worth[:most])
    return told.only(shown)


def are_plain(names: Collection[str]) -> bool:
    """Whether all names can be shown as they are, which is nearly always so."""
    text = "".join(names)
    return text.isascii() and (len(text) <= LONGEST_NAME or max(map(len, names)) <= LONGEST_NAME)


def showable(
    subjects: Sequence[Subject], names: Sequence[str], scope: str, omitted: Omitted
) -> Sequence[Subject]:
    """The subjects without those whose names are too long, or would print like another one's: no series may come twice."""
    if are_plain(names):
        return subjects
    long = {name for name in names if len(name) > LONGEST_NAME}
    note(omitted, scope, Reason.MAX_NAME, len(long))
    doubles = namesakes([name for name in names if name not in long])
    note(omitted, scope, Reason.SAME_NAME, len(doubles))
    left_out = long | doubles
    return [one for one, name in zip(subjects, names, strict=True) if name not in left_out]


def namesakes(names: Sequence[str]) -> frozenset[str]:
    r"""Those of some different names that would print like another one of them.

    A byte that is no UTF-8 prints as ``\xNN``, and so does a name of just these letters, which goes first.
    """
    texts = {name: encodable(name) for name in names}
    taken = {name for name, text in texts.items() if text == name}
    doubles: set[str] = set()
    for name, text in texts.items():
        if text != name:
            if text in taken:
                doubles.add(name)
            taken.add(text)
    return frozenset(doubles)


def note(omitted: Omitted, scope: str, reason: Reason, number: int) -> None:
    """Count subjects that are left out."""
    if number:
        omitted[scope, reason.value] += number


def _compiled(pattern: str, setting: str) -> NamePattern:
    problem = ""
    try:
        return name_pattern(pattern)
    except ValueError as error:
        problem = str(error)
    raise SettingsError(
        f"{setting}: {pattern!r} is no regular expression: {problem}",
        "Patterns are RE2's regular expressions and match whole names: orders\\..* or (?i)audit.",
    )


def _lag(view: StreamView) -> int:
    """The greatest lag among the groups of a stream, at the most that it may be."""
    return max([group.group.lag.upper or 0 for group in view.groups], default=0)
