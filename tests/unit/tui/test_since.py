"""Since when a finding holds: another entry is another finding, though its group and code are the same."""

from msgspec.structs import replace

from streamops.model.entries import EntryId
from streamops.model.observation import Observation
from streamops.tui.history.alerts import FindingsTracker
from tests.support import invented
from tests.support.invented import NOW, seconds
from tests.support.tui import sample


def poisoned_by(entry: EntryId, second: float) -> Observation:
    group = sample.group_view("emails", invented.group("mailer"), replace(sample.POISON, entry=entry))
    made = sample.observation(sample.stream_view("emails", group))
    return replace(made, snapshot=replace(made.snapshot, collected_at=NOW + seconds(second)))


def test_finding_of_a_stream_that_discovery_comes_to_later_may_be_older() -> None:
    alerts = FindingsTracker()
    found = poisoned_by(EntryId(1, 0), 2)
    nothing_yet = replace(found, streams=(), snapshot=replace(found.snapshot, discovery_complete=False))
    assert alerts.take(nothing_yet) == ()
    (row,) = alerts.take(found)
    assert row.from_start


def test_since_of_another_poison_entry_begins_when_that_was_found() -> None:
    alerts = FindingsTracker()
    alerts.take(poisoned_by(EntryId(1, 0), 0))
    (row,) = alerts.take(poisoned_by(EntryId(2, 0), 40))
    assert (row.since, row.from_start) == (NOW + seconds(40), False)
    (row,) = alerts.take(poisoned_by(EntryId(2, 0), 60))
    assert row.since == NOW + seconds(40)
