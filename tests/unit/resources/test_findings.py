from datetime import datetime, timedelta

from streamops.model.observation import Finding, FindingCode, Health
from streamops.resources.findings import ALERT_COLUMNS, AlertRow, anchor, passages, section, worst_then_newest
from streamops.resources.units import ABSENT
from tests.support.invented import NOW

HOUR = timedelta(hours=1)
RUNBOOK = """# Runbooks

## StreamopsConsumerGroupNotReading

### stopped

**Meaning.** Entries wait for the group. Take `STREAM` from
the label; STREAM in prose stays.

**Diagnosis.** Who is it?

```console
$ streamops groups show STREAM GROUP
$ streamops dlq show DLQ
```

**Mitigation.** `streamops pools resume POOL`.

### no_consumers

other
"""


def row(
    code: FindingCode = FindingCode.STOPPED,
    level: Health = Health.WARN,
    *,
    stream: str | None = "orders",
    since: datetime = NOW,
) -> AlertRow:
    return AlertRow(stream, "billing", Finding(code, level, "text", "advice"), 0, since, from_start=False)


def test_the_worst_come_first_then_the_newest() -> None:
    old, new = row(since=NOW - HOUR), row(FindingCode.POISON, since=NOW)
    critical = row(FindingCode.STALLED, Health.CRITICAL, since=NOW - HOUR)
    assert worst_then_newest([old, new, critical]) == (critical, new, old)


def cells(alert: AlertRow) -> dict[str, str]:
    return {column.key: column.cell(alert).text for column in ALERT_COLUMNS}


def test_a_finding_that_held_from_the_start_may_be_older() -> None:
    seen = row()
    assert cells(seen)["since"] == " 12:00:00"
    old = AlertRow(None, None, seen.finding, 0, NOW, from_start=True)
    assert cells(old)["since"] == "<12:00:00"
    assert cells(old)["stream"] == cells(old)["group"] == ABSENT


def test_the_anchor_of_a_runbook_is_the_code_of_the_finding() -> None:
    assert anchor(FindingCode.LAG_GROWING) == "dashboards/RUNBOOKS.md#lag_growing"


def test_a_section_ends_where_the_next_begins() -> None:
    text = section(RUNBOOK, "stopped")
    assert text.startswith("**Meaning.**")
    assert text.endswith("POOL`.")
    assert section(RUNBOOK, "StreamopsConsumerGroupNotReading") == ""
    assert section(RUNBOOK, "nothing") == section("", "stopped") == ""


def test_a_runbook_names_the_stream_and_the_group_in_its_commands() -> None:
    found = passages(section(RUNBOOK, "stopped"), "{or ders}", "-g")
    assert [(one.text, one.command) for one in found] == [
        (
            "Meaning. Entries wait for the group. Take `'{or ders}'` from the label; STREAM in prose stays.",
            False,
        ),
        ("Diagnosis. Who is it?", False),
        ("streamops groups show '{or ders}' -g", True),
        ("streamops dlq show '{or ders}'", True),
        ("Mitigation. `streamops pools resume POOL`.", False),
    ]


def test_a_runbook_of_the_server_leaves_names_open() -> None:
    found = passages(section(RUNBOOK, "stopped"), None, None)
    assert "streamops groups show STREAM GROUP" in [one.text for one in found]
