"""The observer: snapshots in, observations out, a bounded memory in between. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from streamops.model.delayed import DelayedQueue
from streamops.model.observation import (
    Finding,
    FindingCode,
    GroupView,
    Health,
    Observation,
    Retries,
    StreamView,
)
from streamops.model.streams import ConsumerGroup, ServerInfo, Snapshot, StreamRole, StreamState
from streamops.model.wording import quoted
from streamops.monitor.history import History, StreamHistory, advance
from streamops.monitor.rates import NO_RATES, arrival_rate, rates_over
from streamops.monitor.rules import RuleScope, addressed, judge, judge_group, judge_stream, worst_first
from streamops.monitor.rules.evidence import GroupEvidence, GroupTriage
from streamops.monitor.thresholds import Thresholds

OK, UNKNOWN = Health.OK, Health.UNKNOWN
"""Looked up once: most groups are one of these."""

NO_PROGRESS: Final = (FindingCode.STOPPED, FindingCode.NO_CONSUMERS, FindingCode.STALLED)
"""Findings that say, if they are critical, that a group delivers or acknowledges nothing."""


class Observer:
    """Remembers what snapshots showed and judges each in that light.

    Not safe for use from several threads or of several servers: one observer watches one server.

    Args:
        rates: Whether its observations tell rates, beyond what the rules need of them.
        selector: The options that choose the server in commands, as typed; empty if it is the default one.

    Attributes:
        thresholds: When the health rules speak; may be exchanged between snapshots.
    """

    def __init__(self, thresholds: Thresholds, *, rates: bool = True, selector: str = "") -> None:
        self.thresholds = thresholds
        self._rates = rates
        self._selector = selector
        self._history: History | None = None

    def observe(self, snapshot: Snapshot, *, partial: bool = False) -> Observation:
        """Remember a snapshot and judge it.

        Streams and groups that vanished are forgotten; those absent because of a gap are not.

        Args:
            snapshot: What was collected, later than the one before.
            partial: Whether it was collected of some streams only; the others are then not forgotten.
        """
        self._history = advance(self._history, snapshot, self.thresholds, partial=partial)
        return assess(snapshot, self._history, self.thresholds, rates=self._rates, selector=self._selector)

    def with_rates(self, observation: Observation) -> Observation:
        """The last observation with rates, if it was made without them."""
        if self._rates or self._history is None:
            return observation
        return assess(observation.snapshot, self._history, self.thresholds, selector=self._selector)


def assess(
    snapshot: Snapshot, history: History, thresholds: Thresholds, *, rates: bool = True, selector: str = ""
) -> Observation:
    """Judge a snapshot.

    Args:
        snapshot: The snapshot.
        history: What is remembered, this snapshot included: ``advance`` made it of this snapshot.
        thresholds: When the rules speak.
        rates: Whether rates are told; without them only what the rules need is worked out, which is cheaper.
        selector: The options that choose the server in commands of advice.
    """
    assessor = _Assessor(snapshot, thresholds, rates=rates, selector=selector)
    streams = tuple(assessor.stream(state, history.streams[state.name]) for state in snapshot.streams)
    gone = judge(RuleScope.SERVER, history.gone, snapshot.collected_at, thresholds)
    nodes = _judge_nodes(snapshot.server, thresholds)
    findings = addressed(worst_first([*gone, *worst_first(nodes), *assessor.orphans()]), selector)
    health = max([_health(findings, doubt=bool(snapshot.gaps)), *[stream.health for stream in streams]])
    return Observation(snapshot, history.since, streams, findings, health)


def _judge_nodes(server: ServerInfo, thresholds: Thresholds) -> list[Finding]:
    """What the rules find about the processes of a server."""
    found: list[Finding] = []
    for node in server.nodes:
        where = f"{quoted(node.address)}: " if len(server.nodes) > 1 else ""
        found += judge(RuleScope.NODE, node, where, thresholds)
    return found


class _Assessor:
    """What the judgements of all streams and groups of one snapshot share."""

    def __init__(self, snapshot: Snapshot, thresholds: Thresholds, *, rates: bool, selector: str) -> None:
        self.rates = rates
        self.selector = selector
        self.now = snapshot.collected_at
        self.thresholds = thresholds
        self.queues = {queue.stream: queue for queue in snapshot.delayed}
        self.gaps = {(gap.stream, gap.group) for gap in snapshot.gaps}
        # Idle times reach a replica only with deliveries, so there they tell nothing of who is alive.
        self.on_replica = snapshot.server.is_replica
        self.sees_asking = snapshot.server.sees_polls
        self.triage = GroupTriage(thresholds, self.now)

    def stream(self, state: StreamState, history: StreamHistory) -> StreamView:
        """A stream and its groups, judged."""
        findings = judge_stream(state, history, self.thresholds)
        if self.queues and (queue := self.queues.pop(state.name, None)):
            findings = worst_first([*findings, *self.queue(queue)])
        findings = addressed(findings, self.selector)
        is_judged = state.role is not StreamRole.DEAD_LETTERS
        groups = tuple([self.group(state, group, history, is_judged=is_judged) for group in state.groups])
        doubt = bool(self.gaps) and (state.name, None) in self.gaps
        health = max([_health(findings, doubt=doubt), *[group.health for group in groups]])
        rate = arrival_rate(history.recent) if self.rates else None
        return StreamView(state, rate, findings, groups, health, history.counts)

    def queue(self, queue: DelayedQueue) -> tuple[Finding, ...]:
        """What the rules find about a queue of delayed messages."""
        return judge(RuleScope.QUEUE, queue, self.now, self.thresholds)

    def orphans(self) -> list[Finding]:
        """The same of queues whose stream is not among those that were assessed."""
        return [finding for queue in self.queues.values() for finding in self.queue(queue)]

    def group(
        self, state: StreamState, group: ConsumerGroup, stream_history: StreamHistory, *, is_judged: bool
    ) -> GroupView:
        """A group, with what the rules find unless it is one of dead letters."""
        history = stream_history.groups[group.name]
        rates = rates_over(history.recent, history.rewound_from) if self.rates else NO_RATES
        findings: tuple[Finding, ...] = ()
        doubt = bool(self.gaps) and (state.name, group.name) in self.gaps
        if is_judged:
            doubt = doubt or history.lag is None
            trimmed_at, members = stream_history.trimmed_at, None if self.on_replica else group.members
            if not self.triage.is_quiet(state, group, history, trimmed_at, members):
                moves = rates if self.rates else rates_over(history.recent, history.rewound_from)
                evidence = GroupEvidence(
                    state, group, history, trimmed_at, moves, self.now, members, self.sees_asking
                )
                findings = addressed(judge_group(evidence, self.thresholds), self.selector)
        return GroupView(
            state.name,
            group,
            rates,
            history.trend.values,
            history.lost if history.lost_known and history.lost_before == 0 else None,
            findings,
            _health(findings, doubt=doubt),
            lost_at_most=history.lost_at_most,
            counts=history.counts,
        )


def _health(findings: tuple[Finding, ...], *, doubt: bool) -> Health:
    """The worst of findings, given worst first; without any, unknown if something is in doubt."""
    if findings:
        return findings[0].level
    return UNKNOWN if doubt else OK


def fold_retries(streams: Sequence[StreamView]) -> Sequence[StreamView]:
    """The streams with each retry stream folded into its group; one whose group is not among them stays.

    What was found about a retry stream is told of the group. Streams without any stay the very objects that they are.
    """
    folded = _found(streams)
    if not folded:
        return streams
    inside = {id(retries) for retries in folded.values()}
    return tuple(_with_retries(view, folded) for view in streams if id(view) not in inside)


def findings_of_owners(streams: Sequence[StreamView]) -> dict[str, dict[FindingCode, Health]]:
    """By the name of each retry stream: the findings about the group that it belongs to, with their levels."""
    retries = _found(streams)
    return {
        retries[owner].stream.name: {finding.code: finding.level for finding in group.findings}
        for view in (streams if retries else ())
        for group in view.groups
        if (owner := (view.stream.name, group.group.name)) in retries
    }


def without_repeats(
    view: GroupView, owners: Mapping[str, Mapping[FindingCode, Health]]
) -> tuple[Finding, ...]:
    """The findings about a group that make alerts, so that a dead group is one alert.

    Of a retry stream: none while its group makes no progress at all, and none that its group has at the same or a worse level.
    """
    levels = owners.get(view.stream)
    if not levels:
        return view.findings
    if any(levels.get(code) is Health.CRITICAL for code in NO_PROGRESS):
        return ()
    return tuple([one for one in view.findings if levels.get(one.code, Health.OK) < one.level])


def _found(streams: Sequence[StreamView]) -> dict[tuple[str, str], StreamView]:
    """Retry streams by the stream and the group that they belong to."""
    retries = [view for view in streams if view.stream.role is StreamRole.RETRY]
    if not retries:
        return {}
    known = {(view.stream.name, group.group.name) for view in streams for group in view.groups}
    found: dict[tuple[str, str], StreamView] = {}
    for view in retries:
        source = view.stream.source
        # Read by its own group alone; whatever else it is, is shown as it is.
        if source is None or len(view.groups) != 1:
            continue
        name = view.groups[0].group.name
        for owner in ((source, name), (f"{{{source}}}", name)):
            if owner in known:
                found.setdefault(owner, view)
                break
    return found


def _with_retries(view: StreamView, folded: Mapping[tuple[str, str], StreamView]) -> StreamView:
    if not any((view.stream.name, group.group.name) in folded for group in view.groups):
        return view
    groups = tuple(
        _joined(group, retries) if (retries := folded.get((view.stream.name, group.group.name))) else group
        for group in view.groups
    )
    health = max([view.health, *(group.health for group in groups)])
    return replace(view, groups=groups, health=health)


def _joined(group: GroupView, view: StreamView) -> GroupView:
    """A group with what is known of its retry stream."""
    state, (its_group,) = view.stream, view.groups
    found = {finding.code for finding in group.findings}
    more = [
        replace(finding, text=f"in its retry stream {quoted(state.name)}: {finding.text}")
        for finding in (*its_group.findings, *view.findings)
        if finding.code not in found
    ]
    findings = sorted([*group.findings, *more], key=lambda finding: -finding.level)
    return replace(
        group,
        findings=tuple(findings),
        health=max(group.health, view.health),
        retries=Retries(state.name, state.length, its_group.group.pending, its_group.group.lag),
    )
