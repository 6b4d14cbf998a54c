"""Rules 8 to 10: the tables that prove them."""

import pytest

from streamops.model.observation import FindingCode, Health
from streamops.monitor.rules.delivery import lost, retention_edge, rewound
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import bounded, entry_id, group, minutes, seconds
from tests.support.monitor.subjects import group_subject

THRESHOLDS = Thresholds()
AHEAD, HERE = entry_id(minutes(1)), entry_id(minutes(9))


@pytest.mark.parametrize(
    ("subject", "fires"),
    [
        pytest.param(
            group_subject(group(position=HERE), rewound_ago=seconds(0), rewound_from=AHEAD),
            True,
            id="just now",
        ),
        pytest.param(
            group_subject(group(position=HERE), rewound_ago=minutes(9.99), rewound_from=AHEAD),
            True,
            id="nearly long ago",
        ),
        pytest.param(
            group_subject(group(position=HERE), rewound_ago=minutes(10), rewound_from=AHEAD),
            False,
            id="long ago",
        ),
        pytest.param(
            group_subject(group(position=AHEAD), rewound_ago=minutes(1), rewound_from=AHEAD),
            False,
            id="caught up with where it was",
        ),
        pytest.param(group_subject(group(position=HERE)), False, id="never"),
    ],
)
def test_a_group_that_was_set_back_is_found_for_a_while(subject: GroupEvidence, fires: bool) -> None:  # noqa: FBT001 - a column of a table
    finding = rewound(subject, THRESHOLDS)
    assert (finding is not None) == fires
    assert finding is None or (finding.code, finding.level) == (FindingCode.REWOUND, Health.WARN)


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        pytest.param(
            group_subject(lost=57, lost_ago=minutes(3)),
            "57 entries were trimmed before delivery, the last 3 min ago",
            id="lost",
        ),
        pytest.param(
            group_subject(lost=1, lost_ago=seconds(0), lost_known=False),
            "at least 1 entry was trimmed before delivery, the last 0 s ago",
            id="lost, and perhaps more",
        ),
        pytest.param(
            group_subject(lost=57, lost_ago=minutes(9.99)),
            "57 entries were trimmed before delivery, the last 9 min ago",
            id="nearly long ago",
        ),
        pytest.param(group_subject(lost=57, lost_ago=minutes(10)), None, id="long ago"),
        pytest.param(group_subject(), None, id="never"),
        pytest.param(group_subject(lost_known=False), None, id="not known"),
    ],
)
def test_entries_trimmed_before_delivery_are_lost(subject: GroupEvidence, text: str | None) -> None:
    finding = lost(subject, THRESHOLDS)
    assert (finding and finding.text) == text
    if finding is not None:
        assert (finding.code, finding.level) == (FindingCode.LOST, Health.CRITICAL)
        assert finding.advice.endswith(": streamops trim orders --before 7d")


@pytest.mark.parametrize(
    ("subject", "fires"),
    [
        pytest.param(
            group_subject(group(lag=81), lags=(90, 85), trimmed_ago=minutes(1)), True, id="at the edge"
        ),
        pytest.param(
            group_subject(group(lag=80), lags=(90, 85), trimmed_ago=minutes(1)), False, id="just below"
        ),
        pytest.param(
            group_subject(group(lag=90), lags=(90, 80), trimmed_ago=minutes(1)), False, id="not all the time"
        ),
        pytest.param(
            group_subject(group(lag=90), lags=(90,), trimmed_ago=minutes(1)), False, id="two readings"
        ),
        pytest.param(group_subject(group(lag=90), lags=(90, 90)), False, id="nobody trims"),
        pytest.param(
            group_subject(group(lag=90), lags=(90, 90), trimmed_ago=minutes(10)), False, id="trimmed long ago"
        ),
        pytest.param(
            group_subject(group(lag=bounded(90, 99)), lags=(90, 90), trimmed_ago=minutes(1)),
            False,
            id="lag not known",
        ),
        pytest.param(
            group_subject(group(lag=0), lags=(0, 0), length=0, trimmed_ago=minutes(1)),
            False,
            id="empty stream",
        ),
    ],
)
def test_a_group_about_to_lose_entries_to_trimming_is_found(subject: GroupEvidence, fires: bool) -> None:  # noqa: FBT001 - a column of a table
    finding = retention_edge(subject, THRESHOLDS)
    assert (finding is not None) == fires
    assert finding is None or (finding.code, finding.level) == (FindingCode.RETENTION_EDGE, Health.WARN)
