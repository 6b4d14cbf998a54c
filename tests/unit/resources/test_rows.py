"""Rows from observations."""

import pytest

from streamops.model.observation import Health
from streamops.resources.consumers import consumer_rows
from streamops.resources.findings import finding_rows
from streamops.resources.groups import group_rows
from streamops.resources.pending import profile_rows
from streamops.resources.status import limited
from tests.support.resources.observations import AUDIT, BILLING, NOTHING, OBSERVATION, PROFILE
from tests.support.tables import table


def test_streams_without_groups_have_a_row_too() -> None:
    rows = group_rows(OBSERVATION.streams)
    assert [row.group.group.name if row.group else None for row in rows] == [
        "billing",
        "mail",
        "audit",
        None,
        None,
        None,
    ]


def test_consumers_that_were_not_read_have_no_rows() -> None:
    assert [row.consumer.name for row in consumer_rows(BILLING)] == ["worker-1", "worker-2"]
    assert consumer_rows(AUDIT) == ()


def test_the_worst_findings_come_first() -> None:
    rows = finding_rows(OBSERVATION)
    assert [row.finding.level for row in rows] == [Health.CRITICAL, Health.WARN, Health.WARN, Health.WARN]
    assert [(row.stream, row.group) for row in rows] == [
        ("orders", "billing"),
        (None, None),
        ("orders", "billing"),
        ("orders:dlq", None),
    ]


@table(("limit", "left_out"), [(None, 0), (6, 0), (7, 0), (5, 1), (2, 4), (1, 5)])
def test_a_limit_keeps_the_first_rows_and_says_how_many_it_left_out(limit: int | None, left_out: int) -> None:
    all_rows = group_rows(OBSERVATION.streams)
    kept, rest = limited(OBSERVATION, all_rows, limit)
    rows = group_rows(kept.streams)
    assert rest == left_out == len(all_rows) - len(rows)
    assert [row.group for row in rows] == [row.group for row in all_rows[: len(rows)]]
    assert [row.stream.stream for row in rows] == [row.stream.stream for row in all_rows[: len(rows)]]


def test_an_observation_of_nothing_has_no_rows() -> None:
    assert group_rows(NOTHING.streams) == ()
    assert finding_rows(NOTHING) == ()
    assert limited(NOTHING, (), 1) == (NOTHING, 0)


def test_a_distribution_has_a_row_for_each_bucket_and_shares_that_add_up() -> None:
    rows = profile_rows(PROFILE)
    assert [row.bucket for row in rows] == [
        "1s",
        "10s",
        "1m",
        "10m",
        "1h",
        "longer",
        "1",
        "2",
        "5",
        "10",
        "more",
    ]
    for measure in ("idle", "deliveries"):
        assert sum(row.share for row in rows if row.measure == measure) == pytest.approx(1)
