"""Rules 1 to 4: the tables that prove them."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from streamops.model.observation import FindingCode, Health
from streamops.model.streams import Consumer, ConsumerGroup
from streamops.monitor.rules.delivery import lag_growing, no_consumers, stalled, stopped
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
        pytest.param(abandoned(waiting=minutes(2)), CRITICAL, id="critical from stopped_after on"),
        pytest.param(abandoned(waiting=seconds(59)), None, id="just below"),
        pytest.param(abandoned(lag=0, waiting=minutes(0)), None, id="nothing waits"),
        pytest.param(group_subject(group(lag=5, waiting=minutes(9))), None, id="has a consumer"),
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
        pytest.param(holding(), WARN, id="nothing waits behind"),
        pytest.param(holding(lag=5), CRITICAL, id="more waits behind"),
        pytest.param(holding(unacked=minutes(4.99)), None, id="just below"),
        pytest.param(group_subject(watched=minutes(10)), None, id="nothing pending"),
        pytest.param(
            holding(members=[consumer(pending=3, idle=minutes(5))]), WARN, id="its holder was not seen lately"
        ),
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
        pytest.param(
            holding(members=[consumer(pending=3, idle=minutes(5))], lag=5),
            None,
            id="more waits, none seen: rule 3",
        ),
        pytest.param(
            holding(members=[consumer(pending=3, idle=minutes(10))]),
            None,
            id="its holder is a suspect: rule 5",
        ),
        pytest.param(holding(members=None), WARN, id="consumers not read, none seen to move"),
        pytest.param(
            holding(members=None, undelivered=minutes(1)), WARN, id="consumers not read, one seen to move"
        ),
        pytest.param(holding(deliveries=10), None, id="the poison entry says why: rule 6"),
        pytest.param(holding(deliveries=10, lag=5), CRITICAL, id="the poison entry blocks others"),
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
        pytest.param(group_subject(behind(waiting=minutes(1.99))), None, id="waits just below"),
        pytest.param(group_subject(behind(quiet=minutes(1.99))), None, id="a consumer got something"),
        pytest.param(
            group_subject(behind(quiet=seconds(0)), watched=minutes(2)),
            CRITICAL,
            id="the position stood, watched",
        ),
        pytest.param(
            group_subject(behind(quiet=seconds(0)), watched=minutes(9), undelivered=minutes(1.99)),
            None,
            id="the position moved",
        ),
        pytest.param(
            group_subject(group(lag=0, members=[consumer(inactive=minutes(9))]), watched=minutes(9)),
            None,
            id="nothing waits",
        ),
        pytest.param(
            group_subject(group(lag=5, waiting=minutes(9), members=()), watched=minutes(9)),
            None,
            id="no consumers: rule 1",
        ),
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
        pytest.param(group_subject(behind(pending=3)), WARN, id="may be busy, first reading"),
        pytest.param(
            group_subject(behind(pending=3, waiting=minutes(10), quiet=minutes(10), asking=minutes(10))),
            CRITICAL,
            id="too long for being busy, first reading",
        ),
        pytest.param(
            group_subject(behind(pending=3), watched=minutes(9), undelivered=minutes(3), unacked=minutes(1)),
            None,
            id="busy: it acknowledges",
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
            group_subject(behind(pending=3), watched=minutes(9), undelivered=minutes(3), unacked=minutes(2)),
            CRITICAL,
            id="not busy: it does not acknowledge",
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
        pytest.param(growing(), WARN, id="steady growth"),
        pytest.param(growing(waiting=minutes(30)), CRITICAL, id="critical from time_lag_critical on"),
        pytest.param(growing(STEADY[1:]), None, id="known for ten seconds too short a time"),
        pytest.param(growing((None, *STEADY[1:])), None, id="not known that long"),
        pytest.param(growing((*STEADY[:10], None, *STEADY[11:])), WARN, id="not known once in between"),
        pytest.param(growing(slope=0.0), None, id="grows no more"),
        pytest.param(growing(slope=-1.0), None, id="shrinks again"),
        pytest.param(growing(slope=None), None, id="slope unknown"),
        pytest.param(growing((1_000,) * 29 + (3_000,)), None, id="one burst"),
        pytest.param(growing((1_000, 1_400) * 15, 1_450), None, id="a saw"),
        pytest.param(growing(STEADY[::-1], 1_950), None, id="shrinks"),
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
