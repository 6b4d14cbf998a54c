"""The test that spares most groups the rules: where it says that a group is quiet, no rule finds anything."""

from datetime import timedelta

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from streamops.model.entries import EPOCH, PendingEntry
from streamops.model.pending import PendingProfile
from streamops.model.streams import MILLISECOND, ConsumerGroup, Members
from streamops.monitor.rules import judge_group
from streamops.monitor.rules.evidence import GroupEvidence, GroupTriage
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import consumer, group, minutes, pending_entry, profile, seconds
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
SECOND = timedelta(seconds=1)
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


def is_quiet(subject: GroupEvidence, thresholds: Thresholds = THRESHOLDS) -> bool:
    triage = GroupTriage(thresholds, subject.now)
    return triage.is_quiet(
        subject.stream, subject.group, subject.history, subject.trimmed_at, subject.members
    )


def in_columns(subject: GroupEvidence) -> GroupEvidence:
    """The subject with its consumers as collections keep them."""
    members = subject.members
    now = (subject.now - EPOCH) // MILLISECOND
    return replace(subject, members=None if members is None else Members.of(members, now))


def at_work(
    oldest: PendingEntry | None = None,
    *,
    idle: timedelta = SECOND,
    age: timedelta | None = None,
    lag: int = 0,
    waiting: timedelta = timedelta(0),
    consumers: int | None = None,
    scanned: PendingProfile | None = None,
) -> ConsumerGroup:
    return group(
        pending=2,
        oldest=oldest or pending_entry(seconds(5)),
        oldest_age=age,
        members=[consumer(pending=2, idle=idle)],
        consumers=consumers,
        lag=lag,
        waiting=waiting,
        profile=scanned,
    )


OFTEN = pending_entry(seconds(5), deliveries=10)
LONG = pending_entry(seconds(5), idle=minutes(15))


def test_a_group_at_work_is_quiet() -> None:
    worked = at_work(lag=999, waiting=minutes(1.99), scanned=profile(longest_idle=pending_entry()))
    assert is_quiet(in_columns(group_subject(worked, watched=minutes(4.99))))


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(group_subject(at_work(idle=minutes(10))), id="dead_consumer"),
        pytest.param(group_subject(at_work(OFTEN)), id="poison"),
        pytest.param(group_subject(at_work(scanned=profile(most_delivered=OFTEN))), id="poison by the scan"),
        pytest.param(group_subject(at_work(LONG)), id="pending_old"),
        pytest.param(group_subject(at_work(age=minutes(15))), id="pending_old by its age"),
        pytest.param(
            group_subject(at_work(scanned=profile(longest_idle=LONG))), id="pending_old by the scan"
        ),
        pytest.param(group_subject(at_work(pending_entry(minutes(61)))), id="dangling_pending"),
        pytest.param(
            group_subject(at_work(scanned=replace(profile(), deleted=1))), id="dangling_pending by the scan"
        ),
        pytest.param(group_subject(at_work(), length=0), id="dangling_pending in an empty stream"),
        pytest.param(group_subject(at_work(), unacked=minutes(5)), id="stalled"),
        pytest.param(group_subject(at_work(lag=5, waiting=minutes(2))), id="stopped"),
        pytest.param(group_subject(at_work(lag=1000)), id="lag_growing"),
        pytest.param(group_subject(at_work(lag=5, consumers=0)), id="no_consumers"),
        pytest.param(group_subject(at_work(), lost_ago=minutes(1)), id="lost"),
        pytest.param(group_subject(at_work(), rewound_ago=minutes(1)), id="rewound"),
        pytest.param(group_subject(at_work(), trimmed_ago=minutes(1)), id="retention_edge"),
    ],
)
def test_a_group_of_which_a_rule_may_find_something_is_not_quiet(subject: GroupEvidence) -> None:
    assert not is_quiet(in_columns(subject))


@given(subject=SUBJECTS, thresholds=st.sampled_from([THRESHOLDS, SHORT]), columns=st.booleans())
def test_a_quiet_group_has_no_finding(
    *, subject: GroupEvidence, thresholds: Thresholds, columns: bool
) -> None:
    subject = in_columns(subject) if columns else subject
    if is_quiet(subject, thresholds):
        event("quiet")
        assert judge_group(subject, thresholds) == ()
