"""When somebody is told: what fires, what is told again, what is resolved. Pure; the time passed is an argument.

A condition that holds for ``fire_after`` fires, once. It is told again every ``repeat_after`` while it holds, once more
where it becomes worse and stays so, and is resolved when it has been gone for ``resolve_after``. Time in which it is not
known whether it holds counts for nothing: it neither fires nor is it resolved or told again. Notices that come together
are one batch, and between two batches lies ``pause``; what comes meanwhile waits for the next one.
"""

from datetime import timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.exporter.notices.sighting import Condition, Sight, Subject
from streamops.model.observation import Health

EARLY: Final = 8
"""With one repetition go those that are due within this part of the interval, so that there is one message and not many."""


class NoticeKind(StrEnum):
    """Why somebody is told."""

    FIRING = "firing"
    WORSE = "worse"
    REPEATED = "repeated"
    RESOLVED = "resolved"


class Policy(Struct, frozen=True, kw_only=True):
    """When somebody is told of what.

    Attributes:
        level: The least that is told.
        fire_after: How long it must hold before it is told.
        resolve_after: How long it must be gone before that is told.
        repeat_after: How often it is told again while it lasts.
        pause: Time between two batches.
    """

    level: Health = Health.WARN
    fire_after: timedelta = timedelta(minutes=1)
    resolve_after: timedelta = timedelta(minutes=2)
    repeat_after: timedelta = timedelta(hours=4)
    pause: timedelta = timedelta(minutes=1)


class Notice(Struct, frozen=True, gc=False):
    """One thing to tell.

    Attributes:
        kind: Why.
        condition: What was found, the last time it was.
        peak: The worst level that was told of it since it fired; who was told of that is told of this too.
        lasted: Since it was found first.
    """

    kind: NoticeKind
    condition: Condition
    peak: Health
    lasted: timedelta


class Batch(Struct, frozen=True):
    """What is told at once.

    Attributes:
        notices: The notices, those of the worst conditions first.
        holding: How many conditions have been told and not resolved.
    """

    notices: tuple[Notice, ...]
    holding: int


class Tracked(Struct, frozen=True, gc=False):
    """A condition that was found, until it is resolved.

    Attributes:
        condition: As it was found last.
        began: When it was found first.
        since: When it came to be there, or, where it is gone, when it went; moved along while that is not known.
        present: Whether it was there when that was last known.
        doubted: Whether the last look left it open.
        told_at: When it was told last; none before it fired.
        peak: The worst level that was told.
        worse_since: Since when it is worse than that; moved along like ``since``.
    """

    condition: Condition
    began: timedelta
    since: timedelta
    present: bool = True
    doubted: bool = False
    told_at: timedelta | None = None
    peak: Health = Health.OK
    worse_since: timedelta | None = None


class Watching(Struct, frozen=True):
    """What is remembered between two looks.

    Attributes:
        at: When the last look was; on the caller's clock, which never goes back.
        tracked: The conditions that were found and are not over.
        waiting: Notices that wait for the next batch.
        sent_at: When the last batch was; none before the first.
    """

    at: timedelta = timedelta(0)
    tracked: dict[Subject, Tracked] = {}
    waiting: tuple[Notice, ...] = ()
    sent_at: timedelta | None = None


def advance(watching: Watching, sight: Sight, at: timedelta, policy: Policy) -> tuple[Watching, Batch | None]:
    """Look once more.

    Args:
        watching: What is remembered.
        sight: What this look showed.
        at: Now, on a clock that never goes back.
        policy: When somebody is told of what.

    Returns:
        What is to be remembered, and what is to be told now.
    """
    look = _Look(sight, at, at - watching.at, policy)
    found = {
        subject: condition for subject, condition in sight.found.items() if condition.level >= policy.level
    }
    tracked: dict[Subject, Tracked] = {}
    for subject in watching.tracked.keys() | found.keys():
        kept = look.follow(subject, watching.tracked.get(subject), found.get(subject))
        if kept is not None:
            tracked[subject] = kept
    look.repeat(tracked)
    waiting = (*watching.waiting, *look.notices)
    if not waiting or (watching.sent_at is not None and at - watching.sent_at < policy.pause):
        return Watching(at, tracked, waiting, watching.sent_at), None
    holding = sum(one.told_at is not None for one in tracked.values())
    return Watching(at, tracked, (), at), Batch(tuple(sorted(waiting, key=_rank)), holding)


def _rank(notice: Notice) -> tuple[bool, int, Subject]:
    return notice.kind is NoticeKind.RESOLVED, -notice.condition.level, notice.condition.subject


class _Look:
    """One look: what becomes of each condition, and the notices that makes."""

    def __init__(self, sight: Sight, at: timedelta, passed: timedelta, policy: Policy) -> None:
        self._sight = sight
        self._at = at
        self._passed = passed
        self._policy = policy
        self.notices: list[Notice] = []

    def follow(self, subject: Subject, before: Tracked | None, found: Condition | None) -> Tracked | None:
        """What is remembered of one condition; none where it is over or was nothing yet."""
        if found is not None:
            return self._found(self._moved(before, doubted=False), found)
        if before is None:
            return None
        if self._sight.doubted(subject):
            return self._moved(before, doubted=True)
        return self._missed(self._moved(before, doubted=False))

    def repeat(self, tracked: dict[Subject, Tracked]) -> None:
        """Tell again what is due, and with it what will be soon."""
        if not any(self._is_due(one, self._policy.repeat_after) for one in tracked.values()):
            return
        soon = self._policy.repeat_after * (EARLY - 1) / EARLY
        for subject, one in list(tracked.items()):
            if self._is_due(one, soon):
                tracked[subject] = self._tell(NoticeKind.REPEATED, one)

    def _is_due(self, one: Tracked, interval: timedelta) -> bool:
        return (
            one.present and not one.doubted and one.told_at is not None and self._at - one.told_at >= interval
        )

    def _moved(self, before: Tracked | None, *, doubted: bool) -> Tracked | None:
        """The same, where time that showed nothing of it does not count."""
        if before is None or not (doubted or before.doubted):
            return before
        worse = before.worse_since
        return replace(
            before,
            since=before.since + self._passed,
            worse_since=None if worse is None else worse + self._passed,
            doubted=doubted,
        )

    def _found(self, before: Tracked | None, found: Condition) -> Tracked:
        if before is None:
            one = Tracked(found, self._at, self._at)
        else:
            one = replace(before, condition=found, present=True)
        if one.told_at is None:
            return (
                self._tell(NoticeKind.FIRING, one) if self._at - one.since >= self._policy.fire_after else one
            )
        return self._watch_level(one)

    def _watch_level(self, one: Tracked) -> Tracked:
        if one.condition.level <= one.peak:
            return one if one.worse_since is None else replace(one, worse_since=None)
        since = self._at if one.worse_since is None else one.worse_since
        if self._at - since >= self._policy.fire_after:
            return self._tell(NoticeKind.WORSE, one)
        return replace(one, worse_since=since)

    def _missed(self, before: Tracked | None) -> Tracked | None:
        """What was there and is not: forgotten where nobody was told, else resolved once that lasts."""
        if before is None or before.told_at is None:
            return None
        one = replace(before, present=False, worse_since=None, since=self._at) if before.present else before
        if self._at - one.since < self._policy.resolve_after:
            return one
        self._note(NoticeKind.RESOLVED, one)
        return None

    def _tell(self, kind: NoticeKind, one: Tracked) -> Tracked:
        told = replace(one, told_at=self._at, peak=max(one.peak, one.condition.level), worse_since=None)
        self._note(kind, told)
        return told

    def _note(self, kind: NoticeKind, one: Tracked) -> None:
        self.notices.append(Notice(kind, one.condition, one.peak, self._at - one.began))
