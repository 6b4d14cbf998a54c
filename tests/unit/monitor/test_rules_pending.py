"""Rules of what is pending: what they make of a scan, of what is not known, and of older servers; the rest is in the series."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.model.entries import PendingEntry
from streamops.model.observation import FindingCode, Health
from streamops.model.pending import PendingProfile
from streamops.model.streams import Consumer
from streamops.monitor.rules.evidence import GroupEvidence
from streamops.monitor.rules.pending import dead_consumer, pending_old, poison
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import (
    bounded,
    consumer,
    group,
    minutes,
    pending_entry,
    profile,
    seconds,
)
from tests.support.monitor.subjects import group_subject

THRESHOLDS = Thresholds()


def crew(
    *members: Consumer,
    lag: int = 0,
    waiting: timedelta | None = timedelta(0),
    sees_asking: bool = True,
    clear: timedelta | None = None,
) -> GroupEvidence:
    judged = group(
        lag=lag,
        waiting=waiting,
        pending=sum(member.pending for member in members),
        members=members,
        oldest=pending_entry(minutes(1)),
    )
    return group_subject(judged, sees_asking=sees_asking, clear=clear)


def old_server(idle: timedelta, *, lag: int = 0, waiting: timedelta = timedelta(0)) -> GroupEvidence:
    """Before Redis 7.2, where idle times do not tell who asked."""
    return crew(consumer(pending=3, idle=idle, inactive=None), lag=lag, waiting=waiting, sees_asking=False)


@pytest.mark.parametrize(
    ("subject", "fires"),
    [
        pytest.param(
            group_subject(group(pending=3, members=None, consumers=1)), False, id="consumers not read"
        ),
        pytest.param(old_server(minutes(14.99)), False, id="before 7.2, nothing to get"),
        pytest.param(old_server(minutes(15)), True, id="before 7.2, nothing to get, what it holds is old"),
        pytest.param(
            old_server(minutes(10), lag=5, waiting=minutes(10)),
            True,
            id="before 7.2, got nothing though all waited",
        ),
        pytest.param(
            old_server(minutes(10), lag=5, waiting=minutes(9)),
            False,
            id="before 7.2, entries waited less long",
        ),
        pytest.param(
            crew(
                consumer(pending=3, idle=minutes(10), inactive=None),
                lag=5,
                waiting=minutes(60),
                clear=seconds(2),
                sees_asking=False,
            ),
            False,
            id="before 7.2, an old ID that was added just now",
        ),
    ],
)
def test_a_consumer_unseen_with_pending_entries_is_dead(subject: GroupEvidence, fires: bool) -> None:  # noqa: FBT001 - a column of a table
    finding = dead_consumer(subject, THRESHOLDS)
    assert (finding is not None) == fires
    assert finding is None or (finding.code, finding.level) == (FindingCode.DEAD_CONSUMER, Health.WARN)


def holding(
    oldest: PendingEntry | None,
    *,
    age: timedelta | None = None,
    waiting: timedelta | None = timedelta(0),
    seen: PendingProfile | None = None,
    pending: int = 3,
    members: Sequence[Consumer] = (consumer(pending=3),),
) -> GroupEvidence:
    return group_subject(
        group(
            lag=bounded(None, None),
            waiting=waiting,
            pending=pending,
            oldest=oldest,
            oldest_age=age,
            profile=seen,
            members=members,
        )
    )


TRIED_TEN_TIMES = pending_entry(minutes(3), deliveries=10)


@pytest.mark.parametrize(
    ("subject", "poisonous"),
    [
        pytest.param(
            holding(pending_entry(minutes(4)), seen=profile(most_delivered=TRIED_TEN_TIMES)),
            TRIED_TEN_TIMES,
            id="one further in, seen by a scan",
        ),
        pytest.param(
            holding(pending_entry(minutes(2)), seen=profile(most_delivered=TRIED_TEN_TIMES)),
            None,
            id="done since the scan",
        ),
        pytest.param(
            holding(pending_entry(minutes(4), deliveries=30), seen=profile(most_delivered=TRIED_TEN_TIMES)),
            pending_entry(minutes(4), deliveries=30),
            id="the oldest is worse",
        ),
        pytest.param(holding(TRIED_TEN_TIMES, pending=0), None, id="nothing pending any more"),
        pytest.param(holding(None), None, id="rows not read"),
        pytest.param(
            holding(None, seen=profile(most_delivered=TRIED_TEN_TIMES)),
            None,
            id="perhaps done since the scan",
        ),
    ],
)
def test_an_entry_delivered_too_often_is_poison(
    subject: GroupEvidence, poisonous: PendingEntry | None
) -> None:
    finding = poison(subject, THRESHOLDS)
    assert (finding is not None) == (poisonous is not None)
    if finding is not None and poisonous is not None:
        assert (finding.code, finding.level) == (FindingCode.POISON, Health.WARN)
        assert finding.text == (
            f"entry {poisonous.id} was delivered {poisonous.delivery_count} times "
            "and is still pending with worker-1"
        )
        assert finding.advice.endswith(
            f"or dead-letter it: streamops dlq add orders billing --ids {poisonous.id}"
        )


STUCK = pending_entry(minutes(30), idle=minutes(15))
RETRIED = pending_entry(minutes(30), deliveries=3)


@pytest.mark.parametrize(
    ("subject", "entry"),
    [
        pytest.param(holding(RETRIED, age=minutes(30)), RETRIED, id="retried again and again"),
        pytest.param(
            holding(RETRIED, age=minutes(30), waiting=minutes(15.01)),
            None,
            id="most of its age it waited for delivery",
        ),
        pytest.param(
            holding(RETRIED, age=minutes(30), waiting=minutes(15)),
            RETRIED,
            id="the rest of its age is enough",
        ),
        pytest.param(holding(RETRIED, age=minutes(30), waiting=None), None, id="time lag unknown"),
        pytest.param(holding(RETRIED, age=None), None, id="age unknown"),
        pytest.param(
            holding(pending_entry(minutes(40)), seen=profile(longest_idle=STUCK)),
            STUCK,
            id="one further in, seen by a scan",
        ),
        pytest.param(
            holding(pending_entry(minutes(1)), seen=profile(longest_idle=STUCK)),
            None,
            id="done since the scan",
        ),
        pytest.param(holding(STUCK, pending=0), None, id="nothing pending any more"),
        pytest.param(holding(None), None, id="rows not read"),
        pytest.param(
            holding(STUCK, members=[consumer("other", pending=3, idle=minutes(15)), consumer(pending=3)]),
            STUCK,
            id="a suspect has others",
        ),
        pytest.param(
            holding(
                pending_entry(minutes(40), idle=minutes(15), deliveries=10), seen=profile(longest_idle=STUCK)
            ),
            STUCK,
            id="another than the poison entry is old too",
        ),
    ],
)
def test_old_pending_entry_is_a_finding_of_its_level(
    subject: GroupEvidence, entry: PendingEntry | None
) -> None:
    finding = pending_old(subject, THRESHOLDS)
    assert (finding is not None) == (entry is not None)
    if finding is not None and entry is not None:
        assert (finding.code, finding.level) == (FindingCode.PENDING_OLD, Health.WARN)
        assert finding.text.startswith(f"entry {entry.id}")
        assert finding.advice.endswith("--to CONSUMER")


def test_entry_delivered_once_after_a_long_wait_is_pending_since_its_delivery_alone() -> None:
    late = pending_entry(minutes(60), idle=seconds(18))
    assert pending_old(holding(late, age=minutes(60)), THRESHOLDS) is None
    longer = pending_old(holding(replace(late, idle=minutes(20)), age=minutes(60)), THRESHOLDS)
    assert longer is not None
    assert longer.text.endswith(" has been pending for 20 min with worker-1, delivered 1 time")


def test_entry_delivered_again_and_again_is_old_by_its_id_and_with_its_last_owner() -> None:
    finding = pending_old(holding(RETRIED, age=minutes(30)), THRESHOLDS)
    assert finding is not None
    assert finding.text.endswith(
        ", 30 min old by its ID, is pending with worker-1, delivered 3 times, last delivered or claimed 1 s ago"
    )


@pytest.mark.parametrize(
    ("idle", "alive", "fires"),
    [
        pytest.param(seconds(20), False, True, id="its heartbeat is gone"),
        pytest.param(minutes(60), True, False, id="it beats, however long it works"),
        pytest.param(seconds(20), None, False, id="nobody knows"),
    ],
)
def test_a_heartbeat_makes_it_certain(idle: timedelta, alive: bool | None, fires: bool) -> None:  # noqa: FBT001 - columns of a table
    dead = replace(consumer("so-here-1-abcd", pending=3, idle=idle), alive=alive)
    finding = dead_consumer(crew(dead, consumer("b")), THRESHOLDS)
    assert (finding is not None) == fires
    if finding is not None:
        assert finding.text.endswith("20 s ago: dead, its worker's heartbeat is gone")
        assert finding.advice.startswith("Workers of its group claim its entries by themselves")
        assert "--from so-here-1-abcd --to b" in finding.advice
