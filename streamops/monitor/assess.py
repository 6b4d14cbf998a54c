"""One assessment of a snapshot in the light of what came before it."""

from streamops.model.delayed import DelayedQueue
from streamops.model.observation import Finding, GroupView, Health, Observation, StreamView
from streamops.model.server import ServerInfo
from streamops.model.snapshot import Snapshot
from streamops.model.streams import ConsumerGroup, StreamRole, StreamState
from streamops.monitor.group_history import GroupHistory
from streamops.monitor.history import History, StreamHistory
from streamops.monitor.rates import NO_RATES, arrival_rate, rates_over
from streamops.monitor.rules import (
    GroupSubject,
    NodeSubject,
    QueueSubject,
    ServerSubject,
    StreamSubject,
    judge_group,
    judge_node,
    judge_queue,
    judge_server,
    judge_stream,
    lag_matters,
    worst_first,
)
from streamops.monitor.thresholds import Thresholds

IDLE_SEES_ASKING = (7, 2, 0)
"""From this version on, of Redis and of Valkey, a vain request for entries resets a consumer's idle time."""
REPLICA = "slave"

OK, UNKNOWN = Health.OK, Health.UNKNOWN
"""Looked up once: most groups are one of these."""


def assess(
    snapshot: Snapshot, history: History, thresholds: Thresholds, *, rates: bool = True
) -> Observation:
    """Judge a snapshot.

    Args:
        snapshot: The snapshot.
        history: What is remembered, this snapshot included: ``advance`` made it of this snapshot.
        thresholds: When the rules speak.
        rates: Whether rates are told; without them only what the rules need is worked out, which is cheaper.
    """
    assessor = _Assessor(snapshot, thresholds, rates=rates)
    streams = tuple(assessor.stream(state, history.streams[state.name]) for state in snapshot.streams)
    whole = judge_server(ServerSubject(history.gone, snapshot.collected_at), thresholds)
    findings = worst_first([*whole, *assess_server(snapshot.server, thresholds), *assessor.orphans()])
    health = max([_health(findings, doubt=bool(snapshot.gaps)), *[stream.health for stream in streams]])
    return Observation(snapshot, history.since, streams, findings, health)


def assess_server(server: ServerInfo, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the rules find about the processes of a server, worst first."""
    named = len(server.nodes) > 1
    return worst_first(
        [finding for node in server.nodes for finding in judge_node(NodeSubject(node, named), thresholds)]
    )


class _Assessor:
    """What the judgements of all streams and groups of one snapshot share."""

    def __init__(self, snapshot: Snapshot, thresholds: Thresholds, *, rates: bool) -> None:
        self.rates = rates
        nodes = snapshot.server.nodes
        self.now = snapshot.collected_at
        self.thresholds = thresholds
        self.queues = {queue.stream: queue for queue in snapshot.delayed}
        self.gaps = {(gap.stream, gap.group) for gap in snapshot.gaps}
        # Idle times reach a replica only with deliveries, so there they tell nothing of who is alive.
        self.on_replica = any(node.role == REPLICA for node in nodes)
        self.sees_asking = bool(nodes) and all(node.version >= IDLE_SEES_ASKING for node in nodes)

    def stream(self, state: StreamState, history: StreamHistory) -> StreamView:
        """A stream and its groups, judged."""
        findings = judge_stream(StreamSubject(state, history), self.thresholds)
        if queue := self.queues.pop(state.name, None):
            findings = worst_first([*findings, *self.queue(queue)])
        is_judged = state.role is not StreamRole.DEAD_LETTERS
        groups = tuple([self.group(state, group, history, is_judged=is_judged) for group in state.groups])
        doubt = bool(self.gaps) and (state.name, None) in self.gaps
        health = max([_health(findings, doubt=doubt), *[group.health for group in groups]])
        return StreamView(state, self.added_per_second(history), findings, groups, health)

    def queue(self, queue: DelayedQueue) -> tuple[Finding, ...]:
        """What the rules find about a queue of delayed messages."""
        return judge_queue(QueueSubject(queue, self.now), self.thresholds)

    def orphans(self) -> list[Finding]:
        """The same of queues whose stream is not among those that were assessed."""
        return [finding for queue in self.queues.values() for finding in self.queue(queue)]

    def group(
        self, state: StreamState, group: ConsumerGroup, stream_history: StreamHistory, *, is_judged: bool
    ) -> GroupView:
        """A group, with what the rules find unless it is one of dead letters."""
        history = stream_history.groups[group.name]
        needed = self.rates or lag_matters(history.lag, group, self.thresholds)
        rates = rates_over(history.recent, history.rewound_from) if needed else NO_RATES
        findings: tuple[Finding, ...] = ()
        doubt = bool(self.gaps) and (state.name, group.name) in self.gaps
        if is_judged:
            subject = GroupSubject(
                state,
                group,
                history,
                stream_history.trimmed_at,
                rates,
                self.now,
                None if self.on_replica else group.members,
                self.sees_asking,
            )
            findings = judge_group(subject, self.thresholds)
            doubt = doubt or history.lag is None
        return GroupView(
            state.name,
            group,
            rates if self.rates else NO_RATES,
            history.trend.values,
            history.lost if history.lost_known and history.lost_before == 0 else None,
            findings,
            _health(findings, doubt=doubt),
            lost_at_most=lost_at_most(history),
        )

    def added_per_second(self, history: StreamHistory) -> float | None:
        """A stream's rate, where rates are told."""
        return arrival_rate(history.recent) if self.rates else None


def lost_at_most(history: GroupHistory) -> int | None:
    """The most entries that a group can have lost, before watching began and since; none without a bound."""
    if history.lost_before is None or not history.lost_known:
        return None
    return history.lost_before + history.lost


def _health(findings: tuple[Finding, ...], *, doubt: bool) -> Health:
    """The worst of findings, given worst first; without any, unknown where something is in doubt."""
    if findings:
        return findings[0].level
    return UNKNOWN if doubt else OK
