"""Which findings hold, and since when."""

from msgspec.structs import replace

from streamops.model.observation import Observation
from streamops.model.streams import StreamRole
from streamops.monitor.observe import fold_retries
from streamops.tui.history.alerts import FindingsTracker
from tests.support import invented
from tests.support.invented import NOW, seconds
from tests.support.tui import sample
from tests.support.tui.sample import DEAD_LETTERS, EVICTION, STALLED


def at(second: float, *, stalled: bool = True) -> Observation:
    found = (STALLED,) if stalled else ()
    group = sample.group_view("payments", invented.group("ledger"), *found)
    made = sample.observation(sample.stream_view("payments", group))
    return replace(made, snapshot=replace(made.snapshot, collected_at=NOW + seconds(second)))


def test_all_findings_of_server_streams_and_groups_are_listed_the_worst_first() -> None:
    rows = FindingsTracker().take(sample.shop())
    assert [(row.finding, row.stream, row.group) for row in rows] == [
        (STALLED, "payments", "ledger"),
        (EVICTION, None, None),
        (sample.POISON, "emails", "mailer"),
        (sample.DEAD_CONSUMER, "orders", "fulfilment"),
        (DEAD_LETTERS, "payments:dlq", None),
    ]
    assert all(row.from_start for row in rows)


def test_a_finding_is_as_old_as_its_first_sight() -> None:
    alerts = FindingsTracker()
    assert alerts.take(at(0, stalled=False)) == ()
    alerts.take(at(2))
    (row,) = alerts.take(at(60))
    assert row.since == NOW + seconds(2)
    assert not row.from_start


def test_a_short_absence_is_the_same_finding_and_a_long_one_is_not() -> None:
    alerts = FindingsTracker()
    alerts.take(at(0))
    alerts.take(at(2, stalled=False))
    (row,) = alerts.take(at(30))
    assert row.since == NOW
    assert alerts.take(at(60, stalled=False)) == ()
    alerts.take(at(100, stalled=False))
    (row,) = alerts.take(at(120))
    assert row.since == NOW + seconds(120)


def test_several_servers_with_the_same_finding_are_told_apart() -> None:
    observation = sample.observation(findings=(EVICTION, replace(EVICTION, text="node b")))
    rows = FindingsTracker().take(observation)
    assert [row.number for row in rows] == [0, 1]


def test_findings_of_a_retry_stream_are_told_with_its_group() -> None:
    retries = sample.stream_view(
        "payments:retry:ledger",
        sample.group_view("payments:retry:ledger", invented.group("ledger"), sample.POISON),
        role=StreamRole.RETRY,
        source="payments",
    )
    observation = sample.observation(*at(0).streams, retries)
    rows = FindingsTracker().take(replace(observation, streams=tuple(fold_retries(observation.streams))))
    assert {(row.stream, row.group) for row in rows} == {("payments", "ledger")}
    assert {str(row.finding.code) for row in rows} == {"stalled", "poison"}


def test_finding_that_did_not_change_is_the_very_same_row() -> None:
    alerts = FindingsTracker()
    before = alerts.take(sample.shop())
    after = alerts.take(replace(sample.shop(), findings=()))
    assert {id(row) for row in after} < {id(row) for row in before}
    assert len(after) == 4


def test_the_same_findings_again_are_the_very_same_tuple() -> None:
    alerts = FindingsTracker()
    assert alerts.take(at(0)) is alerts.take(at(2))
