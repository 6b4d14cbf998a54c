"""The health rules. Law: each a pure function of one subject and the thresholds; a finding or none.

Groups of dead-letter streams are not judged: such a group reads when a person wants it to. The others,
in this order, and each only where nothing named in brackets explains the same:

 1. ``no_consumers``: entries wait for a group without consumers.
 2. ``stalled``: entries are pending, and none is acknowledged. [6, where no more entries wait; 3 and 5, where no
    consumer that holds some is seen]
 3. ``stopped``: entries wait, and none is delivered. [1, 2]
 4. ``lag_growing``: the lag matters, has grown, and grew steadily. [1, 2, 3]
 5. ``dead_consumer``: a consumer with pending entries has not been seen for too long; a suspicion.
 6. ``poison``: a pending entry has been delivered too often.
 7. ``pending_old``: a pending entry has been with consumers for too long. [2; 5, where the suspect has
    it; 6, where it is that entry]
 8. ``rewound``: the position moved back.
 9. ``lost``: entries were trimmed away before delivery; a warning where that may have been before watching began.
10. ``retention_edge``: a stream is trimmed while nearly all of it is still to be delivered. [9]
11. ``behind``: the next entry has waited for too long, though some are delivered and the lag does not
    grow. [1, 2, 3, 4]
12. ``dangling_pending``: pending entries are gone from the stream; 6 and 7 leave those out.

A stream by itself: 13. ``dead_letters``. A server process: 14. ``eviction_risk``; 15. ``oom``. The
server as a whole: 16. ``streams_gone``: streams vanished with their server's data, or the last ones did. A queue of
delayed messages: 17. ``delayed_overdue``; 18. ``delayed_foreign``.

One reading suffices where it holds the evidence of time itself: the age in an entry's ID, the idle time of
a pending entry or a consumer. Otherwise the evidence is watched until it is long enough. Two readings alone
never raise a finding, except that a position went back, that entries were lost, or that dead letters came:
those are facts. What is not known raises nothing; it shows as the health ``unknown``.

How this differs from Burrow's rules, whose manner it follows: readings are polls, not commits; delivery and
acknowledgement are judged apart; a growing lag is told by its steps, so that neither one zero nor one
decrease hides it (Burrow #290, #714, #738, #745); silence on an idle stream is no finding (#303).
"""

from itertools import product

from streamops.model.observation import Finding, FindingCode
from streamops.monitor.rules.delivery import behind, lag_growing, lag_matters, no_consumers, stalled, stopped
from streamops.monitor.rules.pending import dangling_pending, dead_consumer, pending_old, poison
from streamops.monitor.rules.position import lost, retention_edge, rewound
from streamops.monitor.rules.streams import (
    dead_letters,
    delayed_foreign,
    delayed_overdue,
    eviction_risk,
    oom,
    streams_gone,
)
from streamops.monitor.rules.subject import (
    GroupRule,
    GroupSubject,
    NodeRule,
    NodeSubject,
    QueueRule,
    QueueSubject,
    ServerRule,
    ServerSubject,
    StreamRule,
    StreamSubject,
)
from streamops.monitor.thresholds import Thresholds

__all__ = [
    "EXPLAINED_BY",
    "GROUP_RULES",
    "NODE_RULES",
    "QUEUE_RULES",
    "SERVER_RULES",
    "STREAM_RULES",
    "GroupSubject",
    "NodeSubject",
    "QueueSubject",
    "ServerSubject",
    "StreamSubject",
    "judge_group",
    "judge_node",
    "judge_queue",
    "judge_server",
    "judge_stream",
    "lag_matters",
]

GROUP_RULES: tuple[GroupRule, ...] = (
    no_consumers,
    stalled,
    stopped,
    lag_growing,
    dead_consumer,
    poison,
    pending_old,
    rewound,
    lost,
    retention_edge,
    behind,
    dangling_pending,
)
OF_WAITING: tuple[GroupRule, ...] = (no_consumers, stopped, lag_growing, behind)
OF_PENDING: tuple[GroupRule, ...] = (
    stalled,
    dead_consumer,
    poison,
    pending_old,
    dangling_pending,
)
OF_PAST: tuple[GroupRule, ...] = (rewound, lost, retention_edge)
ASKED: dict[tuple[bool, bool, bool], tuple[GroupRule, ...]] = {
    (waiting, pending, past): tuple(
        rule
        for rule in GROUP_RULES
        if (waiting and rule in OF_WAITING) or (pending and rule in OF_PENDING) or (past and rule in OF_PAST)
    )
    for waiting, pending, past in product((False, True), repeat=3)
}
"""The rules that a group is judged by, by whether entries may wait, some are pending, and anything happened to it:
the others find nothing, which is most of them most of the time."""

STREAM_RULES: tuple[StreamRule, ...] = (dead_letters,)
NODE_RULES: tuple[NodeRule, ...] = (eviction_risk, oom)
QUEUE_RULES: tuple[QueueRule, ...] = (delayed_overdue, delayed_foreign)
SERVER_RULES: tuple[ServerRule, ...] = (streams_gone,)

NOTHING: frozenset[FindingCode] = frozenset()
EXPLAINED_BY: dict[FindingCode, frozenset[FindingCode]] = {
    FindingCode.STOPPED: frozenset({FindingCode.NO_CONSUMERS, FindingCode.STALLED}),
    FindingCode.LAG_GROWING: frozenset(
        {FindingCode.NO_CONSUMERS, FindingCode.STALLED, FindingCode.STOPPED},
    ),
    FindingCode.PENDING_OLD: frozenset({FindingCode.STALLED}),
    FindingCode.RETENTION_EDGE: frozenset({FindingCode.LOST}),
    FindingCode.BEHIND: frozenset(
        {FindingCode.NO_CONSUMERS, FindingCode.STALLED, FindingCode.STOPPED, FindingCode.LAG_GROWING},
    ),
}
"""Which findings make another one needless whatever their details; the rules themselves see to the rest."""


def judge_group(subject: GroupSubject, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the rules find about a group, worst first, then by number."""
    rules = ASKED[subject.may_wait, subject.group.pending > 0, subject.has_past]
    found = [finding for rule in rules if (finding := rule(subject, thresholds)) is not None]
    return worst_first(_unexplained(found) if len(found) > 1 else found) if found else ()


def judge_stream(subject: StreamSubject, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the rules find about a stream by itself, worst first, then by number."""
    return worst_first(
        [finding for rule in STREAM_RULES if (finding := rule(subject, thresholds)) is not None]
    )


def judge_queue(subject: QueueSubject, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the rules find about a queue of delayed messages, worst first, then by number."""
    return worst_first(
        [finding for rule in QUEUE_RULES if (finding := rule(subject, thresholds)) is not None]
    )


def judge_node(subject: NodeSubject, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the rules find about a server process, worst first, then by number."""
    return worst_first([finding for rule in NODE_RULES if (finding := rule(subject, thresholds)) is not None])


def judge_server(subject: ServerSubject, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the rules find about the server as a whole."""
    return tuple(finding for rule in SERVER_RULES if (finding := rule(subject, thresholds)) is not None)


def worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings by level, the greatest first, otherwise in their order."""
    if len(findings) > 1:
        findings = sorted(findings, key=lambda finding: -finding.level)
    return tuple(findings)


def _unexplained(found: list[Finding]) -> list[Finding]:
    codes = {finding.code for finding in found}
    return [finding for finding in found if EXPLAINED_BY.get(finding.code, NOTHING).isdisjoint(codes)]
