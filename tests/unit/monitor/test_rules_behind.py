"""Rule 11: the table that proves it."""

import pytest

from streamops.model.lag import Lag, LagBasis
from streamops.model.observation import FindingCode, Health
from streamops.monitor.rules import judge_group
from streamops.monitor.rules.delivery import behind
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import bounded, group, minutes, seconds
from tests.support.monitor.subjects import group_subject

THRESHOLDS = Thresholds()
UNKNOWN = Lag(None, None, None, LagBasis.UNKNOWN, "not read")


@pytest.mark.parametrize(
    ("subject", "level", "text"),
    [
        pytest.param(
            group_subject(group(lag=5, waiting=minutes(5))),
            Health.WARN,
            "5 entries wait, the first for 5 min",
            id="at the threshold",
        ),
        pytest.param(
            group_subject(group(lag=1, waiting=minutes(30))),
            Health.CRITICAL,
            "1 entry waits, the first for 30 min",
            id="critical from time_lag_critical on",
        ),
        pytest.param(
            group_subject(group(lag=bounded(3, 7), waiting=minutes(6))),
            Health.WARN,
            "at least 3 entries wait, the first for 6 min",
            id="counted in bounds",
        ),
        pytest.param(group_subject(group(lag=5, waiting=seconds(299))), None, None, id="just below"),
        pytest.param(group_subject(group(lag=5, waiting=None)), None, None, id="time not known"),
        pytest.param(group_subject(group(lag=0, waiting=minutes(0))), None, None, id="nothing waits"),
        pytest.param(group_subject(group(lag=UNKNOWN, waiting=minutes(9))), None, None, id="lag not known"),
    ],
)
def test_a_group_whose_entries_wait_too_long_is_behind(
    subject: GroupEvidence, level: Health | None, text: str | None
) -> None:
    finding = behind(subject, THRESHOLDS)
    assert (finding and finding.level) == level
    if finding is not None:
        assert (finding.code, finding.text) == (FindingCode.BEHIND, text)
        assert finding.advice.endswith("streamops consumers ls orders billing")


@pytest.mark.parametrize(
    ("subject", "codes"),
    [
        pytest.param(
            group_subject(group(lag=5, waiting=minutes(9)), watched=minutes(9), undelivered=seconds(1)),
            ["behind"],
            id="it delivers, slowly",
        ),
        pytest.param(
            group_subject(group(lag=5, waiting=minutes(9)), watched=minutes(9)),
            ["stopped"],
            id="stopped says why",
        ),
        pytest.param(
            group_subject(group(lag=5, waiting=minutes(9), members=())), ["no_consumers"], id="nobody reads"
        ),
    ],
)
def test_one_cause_of_delay_is_one_finding(subject: GroupEvidence, codes: list[str]) -> None:
    assert [finding.code.value for finding in judge_group(subject, THRESHOLDS)] == codes
