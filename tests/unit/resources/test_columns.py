"""Columns: names that scripts rely on, cells that are safe, values that are plain, an order that people expect."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.model.acting import Action, Actor, AuditPhase, AuditRecord, Job, JobState
from streamops.model.entries import EntryId, PendingEntry, StreamEntry
from streamops.model.streams import Consumer
from streamops.resources.audit import AUDIT_COLUMNS
from streamops.resources.consumers import CONSUMER_COLUMNS, ConsumerRow, consumer_rows
from streamops.resources.entries import ENTRY_COLUMNS, EntryRow
from streamops.resources.findings import FINDING_COLUMNS, FindingRow, finding_rows
from streamops.resources.groups import GROUP_COLUMNS, GROUP_DETAIL_COLUMNS, GroupRow, group_rows
from streamops.resources.jobs import JOB_COLUMNS, JOB_DETAIL_COLUMNS
from streamops.resources.kinds import NOT_THERE
from streamops.resources.pending import (
    OWNER_COLUMNS,
    PENDING_COLUMNS,
    PROFILE_COLUMNS,
    SUMMARY_COLUMNS,
    OwnerRow,
    PendingRow,
    SummaryRow,
    profile_rows,
)
from streamops.resources.plans import OUTCOME_COLUMNS, PLAN_COLUMNS
from streamops.resources.streams import STREAM_COLUMNS, STREAM_DETAIL_COLUMNS
from streamops.resources.table import Cell, Column, Tone
from tests.support.invented import NOW, entry_id, minutes, seconds
from tests.support.resources.observations import AUDIT, BILLING, HOSTILE_NAME, OBSERVATION, ORDERS, PROFILE
from tests.support.resources.plans import OUTCOME, PLAN
from tests.support.resources.text import unsafe_characters
from tests.support.tables import table

ODD = EntryId(5, 0)
HOSTILE_ENTRY = StreamEntry(entry_id(), ((b"\x1b]0;x\x07", b"\xff\x00"), (b"a", b"b")))

BEGUN = AuditRecord(
    id="5-0",
    phase=AuditPhase.BEGUN,
    begun_id="5-0",
    at=None,
    operation="ack",
    target=HOSTILE_NAME,
    actor=Actor(HOSTILE_NAME, HOSTILE_NAME, 1, HOSTILE_NAME),
    reason=HOSTILE_NAME,
)
JOB = Job(
    id="4f1c09ab12cd",
    operation="claim",
    target="orders/billing",
    intent=b"{}",
    state=JobState.RUNNING,
    owner=HOSTILE_NAME,
    lease_ends=NOW,
    cursor="5-0",
    until="",
    requested=10,
    applied=3,
    skipped=1,
    failed=0,
    created_at=NOW,
    updated_at=None,
)

TABLES: dict[str, tuple[tuple[Column[Any], ...], list[Any]]] = {
    "groups": ((*GROUP_COLUMNS, *GROUP_DETAIL_COLUMNS), list(group_rows(OBSERVATION.streams))),
    "streams": ((*STREAM_COLUMNS, *STREAM_DETAIL_COLUMNS), list(OBSERVATION.streams)),
    "consumers": (
        CONSUMER_COLUMNS,
        [
            *consumer_rows(BILLING),
            ConsumerRow(HOSTILE_NAME, HOSTILE_NAME, Consumer(HOSTILE_NAME, 0, minutes(1), None)),
        ],
    ),
    "pending": (
        PENDING_COLUMNS,
        [
            PendingRow(PendingEntry(entry_id(minutes(3)), "worker-1", seconds(2), 3), NOW),
            PendingRow(PendingEntry(ODD, HOSTILE_NAME, timedelta(0), 1), NOW),
        ],
    ),
    "entries": (
        ENTRY_COLUMNS,
        [EntryRow("orders", HOSTILE_ENTRY), EntryRow(HOSTILE_NAME, StreamEntry(EntryId(2**63, 0), ()))],
    ),
    "findings": (FINDING_COLUMNS, list(finding_rows(OBSERVATION))),
    "profiles": (PROFILE_COLUMNS, list(profile_rows(PROFILE))),
    "summaries": (
        SUMMARY_COLUMNS,
        [SummaryRow("orders", "billing", 3, ODD, ODD, 1), SummaryRow(HOSTILE_NAME, "g", 0, None, None, 0)],
    ),
    "owners": (OWNER_COLUMNS, [OwnerRow(HOSTILE_NAME, 3)]),
    "plans": (PLAN_COLUMNS, [PLAN, replace(PLAN, target=HOSTILE_NAME, loses=HOSTILE_NAME)]),
    "outcomes": (OUTCOME_COLUMNS, [OUTCOME, replace(OUTCOME, target=HOSTILE_NAME, job="")]),
    "jobs": ((*JOB_COLUMNS, *JOB_DETAIL_COLUMNS), [JOB, replace(JOB, target=HOSTILE_NAME, rate=2.5)]),
    "audit": (
        AUDIT_COLUMNS,
        [Action(BEGUN), Action(replace(BEGUN, plan=PLAN), replace(BEGUN, outcome=OUTCOME))],
    ),
}
every_table = pytest.mark.parametrize("name", TABLES)


def column(name: str, key: str) -> Column[Any]:
    return next(column for column in TABLES[name][0] if column.key == key)


@every_table
def test_cells_are_safe_and_values_are_plain(name: str) -> None:
    columns, rows = TABLES[name]
    for row in rows:
        for each in columns:
            cell = each.cell(row)
            assert isinstance(cell, Cell)
            assert not unsafe_characters(cell.text), each.key
            assert type(each.value(row)) in (str, int, float, bool, type(None)), each.key


@every_table
def test_rows_sort_by_every_column(name: str) -> None:
    columns, rows = TABLES[name]
    for each in columns:
        assert len(sorted(rows, key=each.order, reverse=each.descending)) == len(rows)


@table(
    ("key", "billing", "audit", "none"),
    [
        ("lag", Cell("1,204"), Cell("?", Tone.UNKNOWN), NOT_THERE),
        ("time_lag_seconds", Cell("4m10s"), Cell("unavailable", Tone.UNKNOWN), NOT_THERE),
        ("oldest_pending_age_seconds", Cell("40m00s"), Cell("≥10m00s", Tone.UNKNOWN), NOT_THERE),
        ("oldest_pending_idle_seconds", Cell("30m00s"), Cell("10m00s"), NOT_THERE),
        ("oldest_pending_deliveries", Cell("9"), Cell("1"), NOT_THERE),
        ("added_per_second", Cell("12.5/s"), Cell("12.5/s"), NOT_THERE),
        ("delivered_per_second", Cell("3.25/s"), NOT_THERE, NOT_THERE),
        ("acked_per_second", Cell("<0.01/s"), NOT_THERE, NOT_THERE),
        ("trend", Cell("       ▂ ▄▇█", Tone.STRONG), Cell(" " * 12, Tone.STRONG), NOT_THERE),
        ("health", Cell("✗ crit", Tone.CRITICAL), Cell("? unknown", Tone.UNKNOWN), Cell("▲ warn", Tone.WARN)),
        ("findings", Cell("stalled, lag_growing"), Cell(""), Cell("dead_letters")),
        ("entries_read", Cell("8,796"), Cell("?", Tone.UNKNOWN), NOT_THERE),
    ],
)
def test_a_column_of_groups_shows_its_value_unknown_or_absent(
    key: str, billing: Cell, audit: Cell, none: Cell
) -> None:
    cell = column("groups", key).cell
    letters = OBSERVATION.streams[1]
    assert cell(GroupRow(ORDERS, BILLING)) == billing
    assert cell(GroupRow(ORDERS, AUDIT)) == audit
    assert cell(GroupRow(letters, None)) == none


def test_bounds_sort_among_the_counts_and_the_unknown_first() -> None:
    rows = group_rows([ORDERS])
    by_lag = sorted(rows, key=column("groups", "lag").order, reverse=True)
    assert [row.group and row.group.group.name for row in by_lag] == ["billing", "mail", "audit"]


def test_ids_sort_as_redis_orders_them() -> None:
    ids = [EntryId(9, 0), EntryId(10, 2), EntryId(10, 10)]
    rows = [PendingRow(PendingEntry(entry_id, "c", timedelta(0), 1), NOW) for entry_id in reversed(ids)]
    assert [row.entry.id for row in sorted(rows, key=column("pending", "id").order)] == ids


def test_the_age_of_an_odd_id_is_unavailable() -> None:
    row = PendingRow(PendingEntry(ODD, "c", timedelta(0), 1), NOW)
    assert column("pending", "age_seconds").cell(row) == Cell("unavailable", Tone.UNKNOWN)
    assert column("pending", "age_seconds").value(row) is None
    timeless = PendingRow(PendingEntry(entry_id(minutes(3)), "c", timedelta(0), 1), None)
    assert column("pending", "age_seconds").value(timeless) is None


def test_findings_about_the_server_have_no_stream() -> None:
    row = next(row for row in finding_rows(OBSERVATION) if row.stream is None)
    assert isinstance(row, FindingRow)
    assert column("findings", "stream").cell(row) == NOT_THERE


@table(
    ("alive", "word", "text"),
    [(True, "beats", "✓ beats"), (False, "stopped", "✗ stopped"), (None, None, "none")],
)
def test_heartbeat_of_a_consumer_is_told_where_it_was_asked(
    alive: bool | None,  # noqa: FBT001 - a column of a table
    word: str | None,
    text: str,
) -> None:
    column = next(one for one in CONSUMER_COLUMNS if one.key == "heartbeat")
    row = ConsumerRow("orders", "billing", Consumer("so-1", 1, minutes(1), None, alive=alive))
    assert (column.value(row), column.cell(row).text) == (word, text)
