"""Rules of delivery: what they make of what is not known, of a single reading, and of older servers; the rest is in the series."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from streamops.model.lag import Lag, LagBasis
from streamops.model.observation import FindingCode, Health
from streamops.model.streams import Consumer, ConsumerGroup
from streamops.monitor.rules import delivery
from streamops.monitor.rules.delivery import lag_growing, lost, no_consumers, retention_edge, stalled, stopped
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import bounded, consumer, group, minutes, pending_entry, seconds
from tests.support.monitor.subjects import group_subject

THRESHOLDS = Thresholds()
WARN, CRITICAL = Health.WARN, Health.CRITICAL


def abandoned(lag: int = 5, waiting: timedelta | None = timedelta(minutes=1)) -> GroupEvidence:
    return group_subject(group(lag=lag, waiting=waiting, members=()))


@pytest.mark.parametrize(
    ("subject", "level"),
    [
        pytest.param(abandoned(), WARN, id="one reading tells, by the ID"),
        pytest.param(
            group_subject(group(lag=5, waiting=minutes(9), members=None, consumers=1)),
            None,
            id="has a consumer that could not be read",
        ),
        pytest.param(
            group_subject(group(lag=bounded(3, 9), waiting=minutes(1), members=())),
            WARN,
            id="at least some wait",
        ),
        pytest.param(
            group_subject(group(lag=bounded(0, 9), waiting=minutes(9), members=())),
            None,
            id="perhaps none wait",
        ),
        pytest.param(
            group_subject(group(lag=bounded(None, None), waiting=minutes(9), members=())),
            None,
            id="lag unknown",
        ),
        pytest.param(abandoned(waiting=None), None, id="no time in the IDs, first reading"),
        pytest.param(
            group_subject(group(lag=5, waiting=None, members=()), watched=minutes(1)),
            WARN,
            id="no time in the IDs, watched long enough",
        ),
        pytest.param(
            group_subject(group(lag=5, waiting=minutes(9), members=()), clear=seconds(4)),
            None,
            id="an old ID that was added just now",
        ),
    ],
)
def test_a_group_that_waits_without_consumers_is_found(subject: GroupEvidence, level: Health | None) -> None:
    finding = no_consumers(subject, THRESHOLDS)
    assert (finding and finding.level) == level
    assert finding is None or finding.code is FindingCode.NO_CONSUMERS


def holding(
    *,
    lag: int = 0,
    unacked: timedelta = timedelta(minutes=5),
    members: Sequence[Consumer] | None = (consumer(pending=3),),
    undelivered: timedelta | None = None,
    deliveries: int = 1,
) -> GroupEvidence:
    """A group with three pending entries, watched for ten minutes."""
    judged = group(
        lag=lag,
        waiting=seconds(1),
        pending=3,
        members=members,
        consumers=1,
        oldest=pending_entry(minutes(6), deliveries=deliveries),
    )
    return group_subject(judged, watched=minutes(10), unacked=unacked, undelivered=undelivered)


@pytest.mark.parametrize(
    ("subject", "level"),
    [
        pytest.param(
            holding(members=[consumer("old", pending=3, idle=minutes(5)), consumer("new")]),
            WARN,
            id="only one that holds nothing was seen",
        ),
        pytest.param(
            holding(members=[consumer("old", pending=2, idle=minutes(10)), consumer("new", pending=1)]),
            WARN,
            id="one of the holders was seen",
        ),
        pytest.param(
            holding(members=[consumer(pending=3, idle=minutes(5))], undelivered=minutes(1)),
            WARN,
            id="one was seen, by a delivery",
        ),
        pytest.param(holding(members=None), WARN, id="consumers not read, none seen to move"),
        pytest.param(
            holding(members=None, undelivered=minutes(1)), WARN, id="consumers not read, one seen to move"
        ),
    ],
)
def test_group_is_stalled_at_its_level_or_not(subject: GroupEvidence, level: Health | None) -> None:
    finding = stalled(subject, THRESHOLDS)
    assert (finding and finding.level) == level
    assert finding is None or finding.code is FindingCode.STALLED


def behind(
    *,
    waiting: timedelta | None = timedelta(minutes=2),
    quiet: timedelta = timedelta(minutes=2),
    asking: timedelta = timedelta(seconds=1),
    pending: int = 0,
) -> ConsumerGroup:
    """A group for which entries wait while its consumer, seen lately, got nothing for ``quiet``."""
    member = consumer(pending=pending, idle=asking, inactive=quiet)
    return group(lag=5, waiting=waiting, pending=pending, members=[member])


@pytest.mark.parametrize(
    ("subject", "level"),
    [
        pytest.param(group_subject(behind()), CRITICAL, id="one reading tells, by ID and consumers"),
        pytest.param(group_subject(behind(quiet=minutes(1.99))), None, id="a consumer got something"),
        pytest.param(
            group_subject(behind(waiting=minutes(60)), clear=seconds(2)),
            None,
            id="an old ID that was added just now",
        ),
        pytest.param(group_subject(behind(waiting=None)), None, id="no time in the IDs, first reading"),
        pytest.param(
            group_subject(behind(waiting=None), watched=minutes(2)),
            CRITICAL,
            id="no time in the IDs, watched long enough",
        ),
        pytest.param(
            group_subject(group(lag=5, waiting=minutes(9), members=None, consumers=1)),
            None,
            id="consumers not read, first reading",
        ),
        pytest.param(
            group_subject(group(lag=5, waiting=minutes(9), members=None, consumers=1), watched=minutes(2)),
            CRITICAL,
            id="consumers not read, watched long enough",
        ),
        pytest.param(
            group_subject(group(lag=bounded(0, 9), waiting=minutes(9)), watched=minutes(9)),
            None,
            id="perhaps nothing waits",
        ),
        pytest.param(
            group_subject(behind(pending=3, waiting=minutes(10), quiet=minutes(10), asking=minutes(10))),
            CRITICAL,
            id="too long for being busy, first reading",
        ),
        pytest.param(
            group_subject(
                behind(pending=3, waiting=minutes(20), quiet=minutes(20)),
                watched=minutes(20),
                unacked=minutes(1),
            ),
            None,
            id="busy with a long batch: it acknowledges",
        ),
        pytest.param(
            group_subject(
                group(lag=5, waiting=minutes(9), members=[consumer(idle=minutes(2), inactive=None)]),
                sees_asking=False,
            ),
            CRITICAL,
            id="before Redis 7.2, by idle time",
        ),
        pytest.param(
            group_subject(
                group(lag=5, waiting=minutes(9), members=[consumer(idle=seconds(1), inactive=None)])
            ),
            None,
            id="a consumer that came just now and never got any",
        ),
    ],
)
def test_group_is_stopped_at_its_level_or_not(subject: GroupEvidence, level: Health | None) -> None:
    finding = stopped(subject, THRESHOLDS)
    assert (finding and finding.level) == level
    assert finding is None or finding.code is FindingCode.STOPPED


STEADY = tuple(range(2_000, 3_500, 50))
"""Thirty lags ten seconds apart, five entries a second more."""


def growing(
    lags: Sequence[int | None] = STEADY,
    lag: int = 3_500,
    *,
    slope: float | None = 5.0,
    waiting: timedelta = timedelta(seconds=60),
) -> GroupEvidence:
    return group_subject(group(lag=lag, waiting=waiting), lags=lags, slope=slope)


def scaled(lags: Sequence[int | None], by: int) -> tuple[int | None, ...]:
    return tuple(None if lag is None else lag // by for lag in lags)


@pytest.mark.parametrize(
    ("subject", "level"),
    [
        pytest.param(growing(waiting=minutes(30)), CRITICAL, id="critical from time_lag_critical on"),
        pytest.param(growing(STEADY[1:]), None, id="known for ten seconds too short a time"),
        pytest.param(growing((None, *STEADY[1:])), None, id="not known that long"),
        pytest.param(growing((*STEADY[:10], None, *STEADY[11:])), WARN, id="not known once in between"),
        pytest.param(growing(slope=0.0), None, id="grows no more"),
        pytest.param(growing(slope=-1.0), None, id="shrinks again"),
        pytest.param(growing(slope=None), None, id="slope unknown"),
        pytest.param(growing((1_000, 1_400) * 15, 1_450), None, id="a saw"),
        pytest.param(growing(tuple(range(20_000, 23_000, 100)), 23_000), None, id="not by the ratio"),
        pytest.param(growing(scaled(STEADY, 4), 999), None, id="just below the count that matters"),
        pytest.param(growing(scaled(STEADY, 4), 1_000), WARN, id="just the count that matters"),
        pytest.param(
            growing(scaled(STEADY, 100), 35, waiting=minutes(5)), WARN, id="few, but they wait too long"
        ),
        pytest.param(
            growing(scaled(STEADY, 100), 35, waiting=minutes(4.99)), None, id="few, and they hardly wait"
        ),
        pytest.param(growing(tuple(range(0, 1_500, 50)), 1_500), WARN, id="from nothing"),
        pytest.param(
            group_subject(group(lag=bounded(3_500, None), waiting=minutes(60)), lags=STEADY, slope=5.0),
            None,
            id="lag not known now",
        ),
    ],
)
def test_lag_that_grows_is_a_finding_of_its_level(subject: GroupEvidence, level: Health | None) -> None:
    finding = lag_growing(subject, THRESHOLDS)
    assert (finding and finding.level) == level
    assert finding is None or finding.code is FindingCode.LAG_GROWING


UNKNOWN = Lag(None, None, None, LagBasis.UNKNOWN, "not read")


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        pytest.param(
            group_subject(group(lag=1, waiting=minutes(30))), "1 entry waits, the first for 30 min", id="one"
        ),
        pytest.param(
            group_subject(group(lag=bounded(3, 7), waiting=minutes(6))),
            "at least 3 entries wait, the first for 6 min",
            id="counted in bounds",
        ),
        pytest.param(group_subject(group(lag=5, waiting=None)), None, id="time not known"),
        pytest.param(group_subject(group(lag=UNKNOWN, waiting=minutes(9))), None, id="lag not known"),
    ],
)
def test_a_group_whose_entries_wait_too_long_is_behind(subject: GroupEvidence, text: str | None) -> None:
    finding = delivery.behind(subject, THRESHOLDS)
    assert (finding and finding.text) == text
    assert finding is None or finding.advice.endswith("streamops consumers ls orders billing")


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
        pytest.param(group_subject(lost_known=False), None, id="not known"),
    ],
)
def test_entries_trimmed_before_delivery_are_lost(subject: GroupEvidence, text: str | None) -> None:
    finding = lost(subject, THRESHOLDS)
    assert (finding and finding.text) == text
    assert finding is None or finding.advice.endswith(": streamops trim orders --before 7d")


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(group_subject(group(lag=80), lags=(90, 85), trimmed_ago=minutes(1)), id="just below"),
        pytest.param(
            group_subject(group(lag=90), lags=(90, 80), trimmed_ago=minutes(1)), id="not all the time"
        ),
        pytest.param(
            group_subject(group(lag=90), lags=(90, 90), trimmed_ago=minutes(10)), id="trimmed long ago"
        ),
        pytest.param(
            group_subject(group(lag=bounded(90, 99)), lags=(90, 90), trimmed_ago=minutes(1)),
            id="lag not known",
        ),
        pytest.param(
            group_subject(group(lag=0), lags=(0, 0), length=0, trimmed_ago=minutes(1)), id="empty stream"
        ),
    ],
)
def test_a_group_is_not_at_the_edge_of_trimming(subject: GroupEvidence) -> None:
    assert retention_edge(subject, THRESHOLDS) is None
