"""One answer about many groups, for cron, Kubernetes and Nagios: held, breached, or not known."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from enum import IntEnum
from typing import Final

from msgspec import Struct

from streamops.model.observation import GroupView, Health, Observation
from streamops.model.streams import NO_SUCH_STREAM, ReadError, StreamRole

HARMLESS_GAPS: Final = frozenset({"consumers", "server information"})


class ProbeVerdict(IntEnum):
    """What a probe found, ordered so that the one to report is the greatest."""

    HELD = 0
    WARNED = 1
    NOT_KNOWN = 2
    BREACHED = 3


class ProbeLimits(Struct, frozen=True):
    """What must not be exceeded; if nothing is given, the health rules judge.

    Attributes:
        lag: Entries a group has not been given yet.
        time_lag: Waiting time of the first of those.
        pending_age: Age of a group's oldest pending entry.
        dead_letters: Entries in a dead-letter queue.
    """

    lag: int | None = None
    time_lag: timedelta | None = None
    pending_age: timedelta | None = None
    dead_letters: int | None = None

    @property
    def given(self) -> bool:
        """Whether there is any limit."""
        return any(
            limit is not None for limit in (self.lag, self.time_lag, self.pending_age, self.dead_letters)
        )


class Bounds(Struct, frozen=True):
    """What is known of a number: at least ``lower``, at most ``upper``; None if there is no bound."""

    lower: float | None
    upper: float | None

    def against(self, limit: float) -> ProbeVerdict:
        """Whether the number exceeds a limit, as far as the bounds tell."""
        if self.lower is not None and self.lower > limit:
            return ProbeVerdict.BREACHED
        if self.upper is not None and self.upper <= limit:
            return ProbeVerdict.HELD
        return ProbeVerdict.NOT_KNOWN


class ProbeReading(Struct, frozen=True):
    """One number of one subject, and what was said of it.

    Attributes:
        measure: ``lag``, ``time_lag``, ``pending_age`` (both in seconds), ``dead_letters`` or ``health``.
        subject: ``stream/group``, or the stream.
        bounds: What is known of the number.
        verdict: How it stands to its limit.
        text: What was found, in words; empty for a number that speaks for itself.
    """

    measure: str
    subject: str
    bounds: Bounds
    verdict: ProbeVerdict
    text: str = ""


class ProbeResult(Struct, frozen=True):
    """The answer.

    Attributes:
        verdict: The one to report.
        readings: Everything that was judged, in the order of the observation.
        streams: How many streams were looked at.
        groups: How many groups were looked at.
    """

    verdict: ProbeVerdict
    readings: tuple[ProbeReading, ...]
    streams: int
    groups: int

    @property
    def faults(self) -> tuple[ProbeReading, ...]:
        """What did not hold, the worst first."""
        return tuple(sorted((one for one in self.readings if one.verdict), key=lambda one: -one.verdict))


def assess_probe(
    observation: Observation,
    limits: ProbeLimits,
    *,
    named: Iterable[str] = (),
    max_streams: int | None = None,
) -> ProbeResult:
    """Judge every group and dead-letter queue of an observation; what could not be read is not known.

    Args:
        observation: What was read.
        limits: What must not be exceeded.
        named: Streams that were asked for by name, and so must be there.
        max_streams: How many streams were read at most; None if there was no such limit.
    """
    judged = _limited(observation, limits) if limits.given else _healths(observation)
    readings = (*_unread(observation, named, max_streams), *judged)
    return ProbeResult(
        max((reading.verdict for reading in readings), default=ProbeVerdict.HELD),
        readings,
        len(observation.streams),
        sum(len(stream.groups) for stream in observation.streams),
    )


def _limited(observation: Observation, limits: ProbeLimits) -> Iterator[ProbeReading]:
    for stream in observation.streams:
        if limits.dead_letters is not None and stream.stream.role is StreamRole.DEAD_LETTERS:
            length = stream.stream.length
            yield _judged("dead_letters", stream.stream.name, Bounds(length, length), limits.dead_letters)
        for group in stream.groups:
            yield from _group_readings(group, limits)


def _group_readings(view: GroupView, limits: ProbeLimits) -> Iterator[ProbeReading]:
    subject, group = f"{view.stream}/{view.group.name}", view.group
    if limits.lag is not None:
        lag = Bounds(group.lag.lower, group.lag.upper)
        if group.lag.known:
            lag = Bounds(group.lag.entries, group.lag.entries)
        yield _judged("lag", subject, lag, limits.lag)
    if limits.time_lag is not None:
        yield _judged("time_lag", subject, _exactly(group.time_lag.age), limits.time_lag.total_seconds())
    if limits.pending_age is not None:
        yield _judged("pending_age", subject, _pending_age(view), limits.pending_age.total_seconds())


def _pending_age(view: GroupView) -> Bounds:
    group = view.group
    if group.pending == 0:
        return Bounds(0, 0)
    if (oldest := group.oldest_pending) is not None and group.oldest_pending_age is None and not oldest.free:
        # Its ID is no time, but it was produced before it was delivered.
        return Bounds(oldest.idle.total_seconds(), None)
    return _exactly(group.oldest_pending_age)


def _exactly(span: timedelta | None) -> Bounds:
    return Bounds(None, None) if span is None else Bounds(span.total_seconds(), span.total_seconds())


def _judged(measure: str, subject: str, bounds: Bounds, limit: float) -> ProbeReading:
    return ProbeReading(measure, subject, bounds, bounds.against(limit))


_HEALTH_VERDICTS: Final = {
    Health.OK: ProbeVerdict.HELD,
    Health.UNKNOWN: ProbeVerdict.NOT_KNOWN,
    Health.WARN: ProbeVerdict.WARNED,
    Health.CRITICAL: ProbeVerdict.BREACHED,
}


def _healths(observation: Observation) -> Iterator[ProbeReading]:
    nothing = Bounds(None, None)
    for finding in observation.findings:
        yield ProbeReading("health", "server", nothing, _HEALTH_VERDICTS[finding.level], finding.text)
    for stream in observation.streams:
        for finding in stream.findings:
            yield ProbeReading(
                "health", stream.stream.name, nothing, _HEALTH_VERDICTS[finding.level], finding.text
            )
        for group in stream.groups:
            text = group.findings[0].text if group.findings else ""
            if group.health is Health.UNKNOWN:
                text = text or "too little could be read to judge"
            subject = f"{group.stream}/{group.group.name}"
            yield ProbeReading("health", subject, nothing, _HEALTH_VERDICTS[group.health], text)


def _unread(
    observation: Observation, named: Iterable[str], max_streams: int | None
) -> Iterator[ProbeReading]:
    snapshot = observation.snapshot
    for gap in snapshot.gaps:
        if gap.part not in HARMLESS_GAPS:
            yield _unknown(_read_error_part(gap), gap.reason)
    told = {state.name for state in snapshot.streams} | {gap.stream for gap in snapshot.gaps}
    missing = [name for name in named if name not in told]
    for name in missing:
        yield _unknown(name, NO_SUCH_STREAM)
    if max_streams is not None and snapshot.discovered > max_streams:
        yield _unknown(
            "server", f"{snapshot.discovered - max_streams:,} streams beyond max_streams were not read"
        )
    if not snapshot.streams and not missing:
        yield _unknown("server", "no stream matches")


def _unknown(subject: str, text: str) -> ProbeReading:
    return ProbeReading("reading", subject, Bounds(None, None), ProbeVerdict.NOT_KNOWN, text)


def _read_error_part(gap: ReadError) -> str:
    if gap.stream is None:
        return gap.part or "server"
    return gap.stream if gap.group is None else f"{gap.stream}/{gap.group}"
