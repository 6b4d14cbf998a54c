"""Which rules a group is judged by: those that are not asked would find nothing."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from streamops.monitor import rules
from streamops.monitor.rules import RULES, RuleScope, judge_group
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.thresholds import Thresholds
from tests.support.monitor.subjects import group_subject
from tests.support.strategies import counts, entry_ids, groups

THRESHOLDS = Thresholds()
SHORT = replace(
    THRESHOLDS,
    **{
        name: timedelta.resolution
        for name, value in asdict(THRESHOLDS).items()
        if isinstance(value, timedelta)
    },
    poison_deliveries=1,
    lag_growing_entries=1,
    retention_ratio=0.01,
)
SPANS = st.timedeltas(timedelta(0), timedelta(hours=1))
SUBJECTS = st.builds(
    group_subject,
    groups(),
    watched=SPANS,
    undelivered=st.none() | SPANS,
    unacked=st.none() | SPANS,
    clear=st.none() | SPANS,
    lags=st.lists(st.none() | st.integers(0, 5_000), max_size=12),
    slope=st.none() | st.floats(-10, 10),
    lost=counts(),
    lost_ago=st.none() | SPANS,
    rewound_ago=st.none() | SPANS,
    rewound_from=st.none() | entry_ids(),
    trimmed_ago=st.none() | SPANS,
    sees_asking=st.booleans(),
)


@given(SUBJECTS, st.sampled_from([THRESHOLDS, SHORT]))
def test_those_that_are_not_asked_would_find_nothing(subject: GroupEvidence, thresholds: Thresholds) -> None:
    found = judge_group(subject, thresholds)
    with pytest.MonkeyPatch.context() as patch:
        every = tuple(
            rule.find
            for rule in RULES
            if rule.judged in (RuleScope.WAITING, RuleScope.PENDING, RuleScope.PAST)
        )
        patch.setattr(rules, "_GROUP_RULES", dict.fromkeys(rules._GROUP_RULES, every))
        assert judge_group(subject, thresholds) == found
