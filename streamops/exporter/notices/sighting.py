"""What an observation shows that somebody may be told of, and what it leaves open. Pure."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.analysis.group_history import waits
from streamops.analysis.rules import EXPLAINED_BY
from streamops.model.observation import Finding, FindingCode, GroupView, Health, Observation
from streamops.model.snapshot import NO_SUCH_STREAM, Gap

REDIS_DOWN: Final = "redis_down"
COLLECTION_FAILING: Final = "collection_failing"
SETTLING: Final = timedelta(minutes=10)
"""A history younger than this, as after a new connection, does not show that something has passed which only time shows."""

_DELAYED_CODES: Final = frozenset({FindingCode.DELAYED_OVERDUE, FindingCode.DELAYED_FOREIGN})
_SERVER_CODES: Final = frozenset({FindingCode.EVICTION_RISK, FindingCode.OOM})
_WATCHED_CODES: Final = frozenset({FindingCode.STALLED, FindingCode.LAG_GROWING})
_CLOCK: Final = "server clock"
_CONSUMERS: Final = "consumers"
_PENDING: Final = "pending entries"
_DELAYED: Final = "delayed messages"
_INFORMATION: Final = "server information"
_PARTS: Final = {
    FindingCode.STALLED: _CONSUMERS,
    FindingCode.DEAD_CONSUMER: _CONSUMERS,
    FindingCode.POISON: _PENDING,
    FindingCode.PENDING_OLD: _PENDING,
    FindingCode.DANGLING_PENDING: _PENDING,
}
_MOST_SENTENCES: Final = 3


class Subject(Struct, frozen=True, order=True, gc=False):
    """What a notice is about; two with the same are about the same.

    Attributes:
        code: A finding's code, ``redis_down`` or ``collection_failing``.
        stream: The stream; empty for the server.
        group: The group; empty for the stream itself, and for the server.
    """

    code: str
    stream: str = ""
    group: str = ""


class Condition(Struct, frozen=True, gc=False):
    """Something that is not as it should be.

    Attributes:
        subject: What, and where.
        level: How bad it is.
        text: One sentence with the numbers.
        advice: What to do about it.
    """

    subject: Subject
    level: Health
    text: str
    advice: str


class Sight(Struct, frozen=True):
    """What one look showed.

    Attributes:
        found: The conditions that hold.
        doubted: Whether a condition that was not found may hold all the same.
    """

    found: dict[Subject, Condition]
    doubted: Callable[[Subject], bool]


def see(observation: Observation) -> Sight:
    """What an observation shows: findings about groups, streams and the server, and what its gaps leave open."""
    found = {condition.subject: condition for condition in _conditions(observation)}
    return Sight(found, _Doubts(observation).cover)


def see_down(reason: str) -> Sight:
    """What is known where Redis does not answer: that alone."""
    condition = Condition(
        Subject(REDIS_DOWN),
        Health.CRITICAL,
        f"Redis does not answer: {reason}",
        "Nothing else is known meanwhile. Check that it runs and that this machine reaches it",
    )
    return Sight({condition.subject: condition}, lambda _: True)


def see_failing(reason: str, *, answered: bool) -> Sight:
    """What is known where nothing can be collected.

    Args:
        reason: Why, in words.
        answered: Whether Redis answered, so that it is not down.
    """
    condition = Condition(
        Subject(COLLECTION_FAILING),
        Health.CRITICAL,
        f"nothing can be collected from Redis: {reason}",
        "Nothing else is known meanwhile. Check the user's permissions and how busy the server is",
    )
    return Sight(
        {condition.subject: condition}, lambda subject: not (answered and subject.code == REDIS_DOWN)
    )


def _conditions(observation: Observation) -> Iterator[Condition]:
    yield from _server_conditions(observation.findings)
    for stream in observation.streams:
        for finding in stream.findings:
            yield _condition(finding, stream.stream.name)
        for view in stream.groups:
            for finding in view.findings:
                yield _condition(finding, view.stream, view.group.name)


def _condition(finding: Finding, stream: str, group: str = "") -> Condition:
    return Condition(Subject(finding.code, stream, group), finding.level, finding.text, finding.advice)


def _server_conditions(findings: Iterable[Finding]) -> Iterator[Condition]:
    """One a code: processes of a cluster that suffer from the same are told together."""
    by_code: dict[FindingCode, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    for code, same in by_code.items():
        texts = [finding.text for finding in same[:_MOST_SENTENCES]]
        if more := len(same) - len(texts):
            texts.append(f"and {more} more")
        level = max(finding.level for finding in same)
        yield Condition(Subject(code), level, "; ".join(texts), same[0].advice)


class _Doubts:
    """What an observation leaves open: a condition that is not in it may hold all the same."""

    def __init__(self, observation: Observation) -> None:
        snapshot = observation.snapshot
        self._gaps = {
            (gap.stream, gap.group or "", gap.part) for gap in snapshot.gaps if gap.reason != NO_SUCH_STREAM
        }
        self._streams = {view.stream.name for view in observation.streams}
        self._groups = {
            (view.stream, view.group.name): view for stream in observation.streams for view in stream.groups
        }
        self._young = snapshot.collected_at - observation.observed_since < SETTLING
        self._unseen = (
            not snapshot.discovery_complete
            or snapshot.discovered > len(snapshot.streams)
            or any(_hides_streams(gap) for gap in snapshot.gaps)
        )
        nodes = snapshot.server.nodes
        self._server = any(gap.stream is None and gap.part != _CLOCK for gap in snapshot.gaps) or any(
            node.used_memory is None or node.max_memory is None for node in nodes
        )

    def cover(self, subject: Subject) -> bool:
        """Whether that condition may hold, though it was not found."""
        if not subject.stream:
            return subject.code in _SERVER_CODES and self._server
        if subject.stream not in self._streams:
            return self._unseen or (subject.stream, "", "") in self._gaps
        if not subject.group:
            return subject.code in _DELAYED_CODES and (subject.stream, "", _DELAYED) in self._gaps
        view = self._groups.get((subject.stream, subject.group))
        if view is None or (subject.stream, subject.group, "") in self._gaps:
            return (subject.stream, subject.group, "") in self._gaps
        return self._in_group(FindingCode(subject.code), view)

    def _in_group(self, code: FindingCode, view: GroupView) -> bool:
        explanations = EXPLAINED_BY.get(code, frozenset())
        if not explanations.isdisjoint(finding.code for finding in view.findings):
            return True
        if code in _WATCHED_CODES and self._young:
            return True
        part = _PARTS.get(code)
        if part is not None:
            return bool(view.group.pending) and (view.stream, view.group.name, part) in self._gaps
        return _lag_leaves_open(code, view)


def _hides_streams(gap: Gap) -> bool:
    return gap.stream is None and gap.part not in (_CLOCK, _INFORMATION)


def _lag_leaves_open(code: FindingCode, view: GroupView) -> bool:
    """Whether a rule that asks for the lag was silent because that is not known."""
    group = view.group
    if group.lag.entries is not None:
        return False
    match code:
        case FindingCode.LAG_GROWING | FindingCode.RETENTION_EDGE:
            return True
        case FindingCode.BEHIND:
            return group.time_lag.age is None
        case FindingCode.STOPPED:
            return not waits(group.lag)
        case FindingCode.NO_CONSUMERS:
            return not waits(group.lag) and not group.consumers
        case _:
            return False
