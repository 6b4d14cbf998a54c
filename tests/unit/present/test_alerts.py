from datetime import datetime, timedelta

import pytest

from streamops.model.observation import Finding, FindingCode, Health
from streamops.present.alerts import AlertRow, counts_text, next_silence, worst_then_newest
from streamops.present.columns.alerts import ALERT_COLUMNS
from streamops.present.runbooks import HEADINGS, anchor, passages, section
from streamops.present.table import Tone
from streamops.present.units import ABSENT
from tests.support.invented import NOW, minutes
from tests.support.tables import table

HOUR = timedelta(hours=1)
RUNBOOK = """# Runbooks

## GroupStopped

**Means.** Entries wait for the group. Take `STREAM` from
the label; STREAM in prose stays.

**Look.** Who is it?

```console
$ streamops groups info STREAM GROUP
$ streamops dlq show DLQ
```

**Do.** `streamops resume POOL`.

## Next

other
"""


def row(
    code: FindingCode = FindingCode.STOPPED,
    level: Health = Health.WARN,
    *,
    stream: str | None = "orders",
    since: datetime = NOW,
    until: datetime | None = None,
) -> AlertRow:
    return AlertRow(
        stream, "billing", Finding(code, level, "text", "advice"), 0, since, from_start=False, silenced_until=until
    )  # fmt: skip


@table(
    ("left", "after"),
    [
        (None, HOUR),
        (HOUR, 4 * HOUR),
        (minutes(59), 4 * HOUR),
        (minutes(3), HOUR),
        (4 * HOUR, 24 * HOUR),
        (minutes(200), 4 * HOUR),
        (24 * HOUR, None),
        (23 * HOUR + minutes(59), None),
        (5 * HOUR, 24 * HOUR),
    ],
)
def test_each_press_silences_for_longer_and_the_last_for_no_longer(
    left: timedelta | None, after: timedelta | None
) -> None:
    silenced = next_silence(None if left is None else NOW + left, NOW)
    assert silenced == (None if after is None else NOW + after)


def test_the_worst_come_first_then_the_newest_and_the_silenced_last() -> None:
    old, new = row(since=NOW - HOUR), row(FindingCode.POISON, since=NOW)
    critical = row(FindingCode.STALLED, Health.CRITICAL, since=NOW - HOUR)
    silenced = row(FindingCode.OOM, Health.CRITICAL, until=NOW + HOUR)
    assert worst_then_newest([silenced, old, new, critical]) == (critical, new, old, silenced)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], "0 findings"),
        ([row()], "1 finding"),
        ([row(), row(until=NOW)], "2 findings, 1 silenced"),
    ],
)
def test_silenced_findings_are_counted(rows: list[AlertRow], text: str) -> None:
    assert counts_text(rows) == text


def cells(alert: AlertRow) -> dict[str, str]:
    return {column.key: column.cell(alert).text for column in ALERT_COLUMNS}


def test_a_silenced_finding_keeps_its_level_and_says_until_when() -> None:
    shown = cells(row(level=Health.CRITICAL, until=NOW + HOUR))
    assert shown["level"] == "‖ crit"
    assert shown["text"] == "until 13:00:00: text"
    assert {
        column.cell(row(until=NOW)).tone for column in ALERT_COLUMNS if column.key in ("level", "text")
    } == {Tone.DIM}


def test_a_finding_that_held_from_the_start_may_be_older() -> None:
    seen = row()
    assert cells(seen)["since"] == " 12:00:00"
    old = AlertRow(None, None, seen.finding, 0, NOW, from_start=True)
    assert cells(old)["since"] == "<12:00:00"
    assert cells(old)["stream"] == cells(old)["group"] == ABSENT


def test_every_finding_has_a_runbook() -> None:
    assert set(HEADINGS) == set(FindingCode)
    assert anchor(FindingCode.LAG_GROWING) == "dashboards/RUNBOOKS.md#laggrowing"


def test_a_section_ends_where_the_next_begins() -> None:
    text = section(RUNBOOK, "GroupStopped")
    assert text.startswith("**Means.**")
    assert text.endswith("POOL`.")
    assert section(RUNBOOK, "Nothing") == section("", "GroupStopped") == ""


def test_a_runbook_names_the_stream_and_the_group_in_its_commands() -> None:
    found = passages(section(RUNBOOK, "GroupStopped"), "{or ders}", "-g")
    assert [(one.text, one.command) for one in found] == [
        (
            "Means. Entries wait for the group. Take `'{or ders}'` from the label; STREAM in prose stays.",
            False,
        ),
        ("Look. Who is it?", False),
        ("streamops groups info '{or ders}' -g", True),
        ("streamops dlq show '{or ders}'", True),
        ("Do. `streamops resume POOL`.", False),
    ]


def test_a_runbook_of_the_server_leaves_names_open() -> None:
    found = passages(section(RUNBOOK, "GroupStopped"), None, None)
    assert "streamops groups info STREAM GROUP" in [one.text for one in found]
