"""The health rules, one row each. Law: a pure function of the evidence and the thresholds gives a finding or none.

A row stands at the end of the module of its function. It names the function, the alert, what is judged, what the finding means and
what mends it, and the rules that explain it: where one of these finds something, it does not. Some rules see to more of that themselves, where it depends on details:

- ``stalled`` leaves it to ``poison`` where no more entries wait, and to ``stopped`` and ``dead_consumer`` where no consumer that
  holds some is seen;
- ``pending_old`` leaves it to ``dead_consumer`` where the suspect has the entry, and to ``poison`` if it is that entry;
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

import re
from typing import Final

from msgspec.structs import replace

from streamops.model.observation import Finding
from streamops.model.streams import StreamState
from streamops.monitor.history import StreamHistory
from streamops.monitor.rules import delivery, pending, streams
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.rules.rule import Need, Remedy, Rule, RuleScope, code_of
from streamops.monitor.thresholds import Thresholds

__all__ = [
    "EXPLAINED_BY",
    "RULES",
    "RULE_OF",
    "Need",
    "Remedy",
    "Rule",
    "RuleScope",
    "addressed",
    "judge",
    "judge_group",
    "judge_stream",
    "worst_first",
]

RULES: Final = (*delivery.RULES, *pending.RULES, *streams.RULES)
RULE_OF: Final = {rule.code: rule for rule in RULES}
EXPLAINED_BY: Final = {rule.code: frozenset(map(code_of, rule.explained_by)) for rule in RULES}

COMMAND: Final = re.compile(r"\bstreamops (?=[a-z])")
"""How a command begins in advice; no sentence there has these words otherwise."""

_RULES: Final = {judged: tuple(rule.find for rule in RULES if rule.judged is judged) for judged in RuleScope}
_STREAM_RULES: Final = _RULES[RuleScope.STREAM]
_OF_GROUPS: Final = (RuleScope.WAITING, RuleScope.PENDING, RuleScope.PAST)
_GROUP_RULES: Final = tuple(rule.find for rule in RULES if rule.judged in _OF_GROUPS)


def judge_group(evidence: GroupEvidence, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the rules find about a group, worst first, then in the order of the rules."""
    return _best([finding for find in _GROUP_RULES if (finding := find(evidence, thresholds)) is not None])


def judge_stream(stream: StreamState, history: StreamHistory, thresholds: Thresholds) -> tuple[Finding, ...]:
    """What the rules find about a stream by itself, worst first, then in the order of the rules."""
    found = [finding for find in _STREAM_RULES if (finding := find(stream, history, thresholds)) is not None]
    return _best(found) if found else ()


def judge(judged: RuleScope, *evidence: object) -> tuple[Finding, ...]:
    """What the rules find, given what they judge and the thresholds; worst first, then in the order of the rules."""
    return _best([finding for find in _RULES[judged] if (finding := find(*evidence)) is not None])


def addressed(findings: tuple[Finding, ...], selector: str) -> tuple[Finding, ...]:
    """The findings with the options that choose their server in each command of their advice."""
    if not (selector and findings):
        return findings
    return tuple(
        [replace(found, advice=COMMAND.sub(f"streamops {selector} ", found.advice)) for found in findings]
    )


def _best(found: list[Finding]) -> tuple[Finding, ...]:
    """Findings that no other one explains, worst first."""
    if len(found) > 1:
        codes = {finding.code for finding in found}
        found = [finding for finding in found if EXPLAINED_BY[finding.code].isdisjoint(codes)]
    return worst_first(found)


def worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings by level, the greatest first, otherwise in their order."""
    if len(findings) > 1:
        findings = sorted(findings, key=lambda finding: -finding.level)
    return tuple(findings)
