"""The rules together: what they find as things happen, one finding for one cause."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.observation import Finding, FindingCode, Health
from streamops.monitor.rules import EXPLAINED_BY, RULE_OF, RULES, RuleScope, judge, worst_first
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import node
from tests.support.monitor.rule_series import SERIES, Series, letters
from tests.support.monitor.subjects import dead_letter_subject

THRESHOLDS = Thresholds()


@pytest.mark.parametrize("series", SERIES, ids=lambda series: series.name)
def test_what_happens_is_found_at_its_readings_and_nothing_else_is(series: Series) -> None:
    found = {code: at_each for code, at_each in series.found.items() if at_each.strip(".")}
    assert letters(series) == found


def test_every_rule_finds_something_in_a_series() -> None:
    found = {code for series in SERIES for code, at_each in series.found.items() if at_each.strip(".")}
    assert found == set(RULE_OF)


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
