"""The rules together: one cause, one finding."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.observation import Finding, FindingCode, Health
from streamops.monitor.rules import EXPLAINED_BY, RULES, RuleScope, judge, judge_group, worst_first
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import consumer, entry_id, group, minutes, node, pending_entry, seconds
from tests.support.monitor.subjects import dead_letter_subject, group_subject

THRESHOLDS = Thresholds()
RISING = tuple(range(2_000, 3_500, 50))
HUNG = consumer(pending=3, idle=seconds(1), inactive=minutes(9))
DEAD = consumer(pending=3, idle=minutes(20), inactive=minutes(20))


def codes(subject: GroupEvidence) -> list[str]:
    return [finding.code.value for finding in judge_group(subject, THRESHOLDS)]


@pytest.mark.parametrize(
    ("subject", "found"),
    [
        pytest.param(group_subject(watched=minutes(60)), [], id="healthy"),
        pytest.param(
            group_subject(group(lag=3_500, waiting=minutes(9), members=()), lags=RISING, slope=5.0),
            ["no_consumers"],
            id="no consumers: neither stopped nor growing",
        ),
        pytest.param(
            group_subject(
                group(
                    lag=3_500,
                    waiting=minutes(9),
                    pending=3,
                    members=[HUNG],
                    oldest=pending_entry(minutes(20)),
                ),
                watched=minutes(9),
                lags=RISING,
                slope=5.0,
            ),
            ["stalled"],
            id="stalled: neither stopped nor growing",
        ),
        pytest.param(
            group_subject(
                group(
                    pending=3,
                    members=[HUNG],
                    oldest=pending_entry(minutes(20), idle=minutes(20)),
                    waiting=None,
                ),
                watched=minutes(9),
            ),
            ["stalled"],
            id="stalled: what it holds is old for that reason",
        ),
        pytest.param(
            group_subject(group(lag=3_500, waiting=minutes(9)), watched=minutes(9), lags=RISING, slope=5.0),
            ["stopped"],
            id="stopped: not growing besides",
        ),
        pytest.param(
            group_subject(
                group(pending=3, members=[DEAD], oldest=pending_entry(minutes(20), idle=minutes(20))),
                watched=minutes(20),
            ),
            ["dead_consumer"],
            id="dead consumer: what it holds is old for that reason, and it does not stall",
        ),
        pytest.param(
            group_subject(
                group(
                    lag=5,
                    waiting=minutes(20),
                    pending=3,
                    members=[DEAD],
                    oldest=pending_entry(minutes(20), idle=minutes(20)),
                ),
                watched=minutes(20),
            ),
            ["stopped", "dead_consumer"],
            id="dead consumer, and nobody reads: two things to do",
        ),
        pytest.param(
            group_subject(
                group(pending=1, members=[HUNG], oldest=pending_entry(minutes(20), deliveries=12)),
                watched=minutes(20),
            ),
            ["poison"],
            id="poison: neither stalled nor old",
        ),
        pytest.param(
            group_subject(
                group(
                    lag=5,
                    waiting=minutes(20),
                    pending=1,
                    members=[HUNG],
                    oldest=pending_entry(minutes(20), deliveries=12),
                ),
                watched=minutes(20),
            ),
            ["stalled", "poison"],
            id="poison that blocks others",
        ),
        pytest.param(
            group_subject(
                group(lag=95, waiting=seconds(1)),
                lags=(95, 95),
                lost=3,
                lost_ago=minutes(1),
                trimmed_ago=minutes(1),
            ),
            ["lost"],
            id="lost: beyond the edge",
        ),
        pytest.param(
            group_subject(
                group(lag=95, waiting=seconds(1), position=entry_id(minutes(9))),
                lags=(95, 95),
                trimmed_ago=minutes(1),
                rewound_ago=minutes(1),
                rewound_from=entry_id(),
            ),
            ["rewound", "retention_edge"],
            id="rewound to the edge",
        ),
    ],
)
def test_one_cause_is_one_finding(subject: GroupEvidence, found: list[str]) -> None:
    assert codes(subject) == found


def test_what_explains_stands_before_what_it_explains() -> None:
    order = [rule.code for rule in RULES]
    for explained, causes in EXPLAINED_BY.items():
        assert all(order.index(cause) < order.index(explained) for cause in causes)


def found_like(code: FindingCode, level: Health) -> Finding:
    return Finding(code, level, "text", "advice")


@given(
    st.lists(
        st.builds(found_like, st.sampled_from(FindingCode), st.sampled_from([Health.WARN, Health.CRITICAL]))
    )
)
def test_worst_first_keeps_the_order_within_a_level(found: list[Finding]) -> None:
    ordered = worst_first(found)
    assert all(earlier.level >= later.level for earlier, later in pairwise(ordered))
    for level in (Health.WARN, Health.CRITICAL):
        assert [f for f in ordered if f.level is level] == [f for f in found if f.level is level]


def test_streams_and_nodes_are_judged_by_their_rules() -> None:
    letters = judge(RuleScope.STREAM, *dead_letter_subject(3), THRESHOLDS)
    assert [finding.code for finding in letters] == [FindingCode.DEAD_LETTERS]
    crammed = judge(RuleScope.NODE, node(used_memory=99, max_memory=100), "", THRESHOLDS)
    assert [finding.code for finding in crammed] == [FindingCode.OOM]
