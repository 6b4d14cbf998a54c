from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from streamops.model.entries import EntryId, StreamEntry
from streamops.model.observation import FindingCode, Observation, Retries
from streamops.resources.groups import GROUP_COLUMNS, GroupRow, group_rows
from streamops.tui.lines.details import (
    brief_lines,
    column_lines,
    group_lines,
    profile_lines,
    server_lines,
    stream_lines,
)
from streamops.tui.lines.payload import entry_lines
from streamops.tui.widgets.paint import Line, cell_width
from tests.support.invented import NOW, exact
from tests.support.tui import sample


def text(lines: Sequence[Line]) -> str:
    return "\n".join("".join(cell.text for cell in line) for line in lines)


def row(stream: str, group: str) -> GroupRow:
    return next(
        found
        for found in group_rows(sample.shop().streams)
        if found.group is not None and (found.stream.stream.name, found.group.group.name) == (stream, group)
    )


def test_a_group_is_told_with_its_findings_first() -> None:
    told = text(group_lines(row("payments", "ledger"), 64)).splitlines()
    assert told[:6] == [
        " payments ▸ ledger",
        " ✗ crit",
        "",
        " ✗ stalled",
        "   Nothing was delivered for 6 min while 1,204 entries wait.",
        "   → See whether the consumers of ledger still run: streamops",
    ]
    assert " Lag            1,204  reported" in told
    assert "   reported by the server, whose counters are sound" in told
    assert " Lag growth     3.30/s" in told


def test_why_a_number_is_unknown_is_told() -> None:
    told = text(group_lines(row("sensors", "store"), 60))
    assert "the server gives no count" in told
    assert "lag age: entry IDs are not times" in told
    assert "Owner" not in told


def test_nothing_told_is_wider_than_the_pane() -> None:
    for width in [20, 34, 52, 80, 160]:
        shop = sample.shop()
        lines = server_lines(shop, width)
        for found in group_rows(shop.streams):
            lines += group_lines(found, width) + stream_lines(found.stream, width)
        if width >= 34:
            assert max(cell_width("".join(cell.text for cell in line)) for line in lines) <= width


def test_the_brief_of_a_healthy_group_starts_with_its_lag_however_long_its_name_is() -> None:
    found = row("sensors", "store")
    assert found.group is not None
    group = replace(found.group.group, name="a" * 200)
    quiet = replace(found.group, group=group, findings=())
    stream = replace(found.stream, findings=())
    first = text(brief_lines(GroupRow(stream, quiet), 60)).splitlines()[0]
    assert first.split()[0] == "Lag"


def test_a_distribution_is_drawn_with_its_coverage() -> None:
    group = row("emails", "mailer").group
    assert group is not None
    assert group.group.profile is not None
    told = text(profile_lines(replace(group.group.profile, coverage=0.374))).splitlines()
    assert told[0] == " Pending by idle, 37 % scanned"
    assert told[1].split() == ["≤1s", "████████████", "5"]
    assert told[6].split() == [">1h", "0"]
    assert told[13].split() == [">10", "██", "1"]
    assert profile_lines(None) == []


def test_a_stream_without_groups_is_told_as_a_stream() -> None:
    found = group_rows(sample.shop().streams)[-2]
    assert found.group is None
    assert "18 dead letters" in text(group_lines(found, 60))


def test_the_server_is_told_with_what_could_not_be_read() -> None:
    told = text(server_lines(sample.shop(), 80))
    assert "Elsewhere: the server\n ▲ eviction risk" in told
    assert "not readable: stream secrets: NOPERM" in told
    late = replace(sample.EVICTION, code=FindingCode.DELAYED_OVERDUE, stream="reminders")
    of_queue = text(server_lines(sample.observation(findings=(late,)), 80))
    assert of_queue.startswith(" Elsewhere: delayed messages of reminders\n ▲ delayed overdue")
    quiet: Observation = sample.observation()
    assert server_lines(quiet, 80) == []


def test_every_column_is_explained_with_its_value() -> None:
    told = text(column_lines(GROUP_COLUMNS, row("payments", "ledger"), 80))
    for column in GROUP_COLUMNS:
        assert column.title in told
        assert column.help.split(".")[0][:30] in told
    assert " LAG            1,204" in told


ENTRY = StreamEntry(
    EntryId(int(NOW.timestamp() * 1000) - 90_000, 0),
    ((b"kind", b"paid"), (b"body", b'{"a": [1, true]}'), (b"blob", bytes(range(128, 140))), (b"none", b"")),
)


def test_an_entry_is_told_field_by_field() -> None:
    told = text(entry_lines(ENTRY, NOW, 80)).splitlines()
    assert told[0] == f" {ENTRY.id}"
    assert told[1] == " 2026-03-14 11:58:30Z, 1m30s ago · 4 fields · 48 B"
    assert told[3:5] == [" kind  4 B", "    paid"]
    assert '      "a": [' in told
    assert " blob  binary, shown as hex · 12 B" in told
    assert " none  empty · 0 B" in told


def test_an_entry_can_be_told_raw() -> None:
    assert '    {"a": [1, true]}' in text(entry_lines(ENTRY, NOW, 80, raw=True)).splitlines()


def test_an_id_that_is_no_time_gets_no_age() -> None:
    for entry_id, expected in [
        (EntryId(5, 0), "1970-01-01 00:00:00Z ·"),
        (EntryId(2**63, 0), "the ID is not a timestamp ·"),
        (EntryId(int((NOW + timedelta(days=2)).timestamp() * 1000), 0), "2026-03-16 12:00:00Z ·"),
    ]:
        entry = StreamEntry(entry_id, ENTRY.fields)
        assert text(entry_lines(entry, NOW, 80)).splitlines()[1].startswith(f" {expected}")
        assert "ago" not in text(entry_lines(entry, NOW, 80)).splitlines()[1]


def test_a_large_value_is_cut_and_says_so() -> None:
    entry = StreamEntry(ENTRY.id, ((b"big", b"x" * 1_000_000),))
    lines = entry_lines(entry, NOW, 80)
    assert len(lines) < 5_000
    assert "first 64.0 KiB of 976.6 KiB" in text(lines)


def test_a_value_of_line_ends_is_cut_and_says_so() -> None:
    lines = entry_lines(StreamEntry(ENTRY.id, ((b"a", b"\n" * 1_000_000), (b"b", b"x"))), NOW, 80)
    assert len(lines) == 20_001
    assert "cut after 20,000 lines" in text(lines[-1:])


def test_a_retry_stream_is_told_with_its_group() -> None:
    found = row("payments", "ledger")
    assert found.group is not None
    retries = Retries("{payments}:retry:ledger", 3, 1, exact(2))
    told = text(group_lines(replace(found, group=replace(found.group, retries=retries)), 64)).splitlines()
    at = told.index(" Retry stream   {payments}:retry:ledger")
    assert [" ".join(line.split()) for line in told[at + 1 : at + 4]] == [
        "Retry 3",
        "Retry pending 1",
        "Retry lag 2",
    ]
