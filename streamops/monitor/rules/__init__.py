"""The health rules, one row each. Law: a pure function of the evidence and the thresholds gives a finding or none.

A row names the finding, the function that finds it, what it judges, and the findings that explain it: where one of these is
found, it is not. Some rules see to more of that themselves, where it depends on details:

- ``stalled`` leaves it to ``poison`` where no more entries wait, and to ``stopped`` and ``dead_consumer`` where no consumer that
  holds some is seen;
- ``pending_old`` leaves it to ``dead_consumer`` where the suspect has the entry, and to ``poison`` where it is that entry;
- ``poison`` and ``pending_old`` leave entries that are gone from the stream to ``dangling_pending``.

Groups of dead-letter streams are not judged: such a group reads when a person wants it to.

One reading suffices where it holds the evidence of time itself: the age in an entry's ID, the idle time of
a pending entry or a consumer. Otherwise the evidence is watched until it is long enough. Two readings alone
never raise a finding, except that a position went back, that entries were lost, or that dead letters came:
those are facts. What is not known raises nothing; it shows as the health ``unknown``.

How this differs from Burrow's rules, whose manner it follows: readings are polls, not commits; delivery and
acknowledgement are judged apart; a growing lag is told by its steps, so that neither one zero nor one
decrease hides it (Burrow #290, #714, #738, #745); silence on an idle stream is no finding (#303).
"""

from collections.abc import Callable, Iterable
from enum import Enum
from itertools import compress, product
from typing import Final, NamedTuple

from streamops.model.observation import Finding, FindingCode
from streamops.monitor.rules.delivery import (
    behind,
    lag_growing,
    lost,
    no_consumers,
    retention_edge,
    rewound,
    stalled,
    stopped,
)
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.rules.pending import dangling_pending, dead_consumer, pending_old, poison
from streamops.monitor.rules.streams import (
    dead_letters,
    delayed_foreign,
    delayed_overdue,
    eviction_risk,
    oom,
    streams_gone,
)
from streamops.monitor.thresholds import Thresholds


class RuleScope(Enum):
    """What a rule judges; of groups, only those of which something may be found, which is few of them most of the time."""

    WAITING = "a group for which entries may wait"
    PENDING = "a group with pending entries"
    PAST = "a group whose position moved back, that lost entries, or whose stream was trimmed"
    STREAM = "a stream by itself: its state and its history"
    QUEUE = "a queue of delayed messages, and the server's clock"
    NODE = "a server process, and what a sentence about it begins with, if it is one of several"
    SERVER = "the server as a whole: streams that vanished together, and the server's clock"


class Rule(NamedTuple):
    """One health rule.

    Attributes:
        code: What it finds.
        alert: The alert in Prometheus that says the same, and the heading of its runbook.
        judged: What it judges.
        find: Finds it, given what is judged and the thresholds.
        explained_by: Findings that make it needless, whatever their details.
    """

    code: FindingCode
    alert: str
    judged: RuleScope
    find: Callable[..., Finding | None]
    explained_by: frozenset[FindingCode] = frozenset()


def _rule(
    alert: str,
    judged: RuleScope,
    find: Callable[..., Finding | None],
    *explained_by: Callable[..., Finding | None],
) -> Rule:
    causes = frozenset(FindingCode(cause.__name__) for cause in explained_by)
    return Rule(FindingCode(find.__name__), alert, judged, find, causes)


RULES: Final = (
    _rule("StreamopsNoConsumers", RuleScope.WAITING, no_consumers),
    _rule("StreamopsGroupStalled", RuleScope.PENDING, stalled),
    _rule("StreamopsGroupStopped", RuleScope.WAITING, stopped, no_consumers, stalled),
    _rule("StreamopsLagGrowing", RuleScope.WAITING, lag_growing, no_consumers, stalled, stopped),
    _rule("StreamopsDeadConsumer", RuleScope.PENDING, dead_consumer),
    _rule("StreamopsPoisonEntry", RuleScope.PENDING, poison),
    _rule("StreamopsPendingOld", RuleScope.PENDING, pending_old, stalled),
    _rule("StreamopsGroupRewound", RuleScope.PAST, rewound),
    _rule("StreamopsEntriesLost", RuleScope.PAST, lost),
    _rule("StreamopsRetentionEdge", RuleScope.PAST, retention_edge, lost),
    _rule("StreamopsGroupBehind", RuleScope.WAITING, behind, no_consumers, stalled, stopped, lag_growing),
    _rule("StreamopsDanglingPending", RuleScope.PENDING, dangling_pending),
    _rule("StreamopsDeadLetters", RuleScope.STREAM, dead_letters),
    _rule("StreamopsEvictionRisk", RuleScope.NODE, eviction_risk),
    _rule("StreamopsWritesWillFail", RuleScope.NODE, oom),
    _rule("StreamopsStreamsGone", RuleScope.SERVER, streams_gone),
    _rule("StreamopsDelayedOverdue", RuleScope.QUEUE, delayed_overdue),
    _rule("StreamopsDelayedForeign", RuleScope.QUEUE, delayed_foreign),
)

EXPLAINED_BY: Final = {rule.code: rule.explained_by for rule in RULES}

_RULES: Final = {judged: tuple(rule for rule in RULES if rule.judged is judged) for judged in RuleScope}
_GROUP_RULES: Final = {
    asked: tuple(rule for rule in RULES if rule.judged in compress(RuleScope, asked))
    for asked in product((False, True), repeat=3)
}
"""The rules of a group by whether entries may wait, some are pending, and anything happened to it."""


def judge_group(evidence: GroupEvidence, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the rules find about a group, worst first, then in the order of the rules."""
    rules = _GROUP_RULES[evidence.may_wait, evidence.group.pending > 0, evidence.has_past]
    return _found(rules, evidence, thresholds) if rules else ()


def judge(judged: RuleScope, *evidence: object) -> tuple[Finding, ...]:
    """What the rules find, given what they judge and the thresholds; worst first, then in the order of the rules."""
    return _found(_RULES[judged], *evidence)


def _found(rules: Iterable[Rule], *evidence: object) -> tuple[Finding, ...]:
    found = [finding for rule in rules if (finding := rule.find(*evidence)) is not None]
    if len(found) > 1:
        codes = {finding.code for finding in found}
        found = [finding for finding in found if EXPLAINED_BY[finding.code].isdisjoint(codes)]
    return worst_first(found) if found else ()


def worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings by level, the greatest first, otherwise in their order."""
    if len(findings) > 1:
        findings = sorted(findings, key=lambda finding: -finding.level)
    return tuple(findings)
