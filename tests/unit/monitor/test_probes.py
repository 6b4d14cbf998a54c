"""Probes: an unknown number never passes for a good one, and never for a bad one."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.model.lag import Lag, LagBasis
from streamops.model.observation import Health, Observation
from streamops.model.streams import ConsumerGroup
from streamops.monitor.probes import Bounds, ProbeLimits, ProbeResult, ProbeVerdict, assess_probe
from tests.support.invented import entry_id, exact, group, minutes, pending_entry, snapshot, stream
from tests.support.resources.observations import LETTERS_VIEW, NOTHING, OBSERVATION, ORDERS, view
from tests.support.tables import table


def observation(*groups: ConsumerGroup, health: Health = Health.OK) -> Observation:
    views = tuple(view("orders", each, health=health) for each in groups)
    orders = replace(ORDERS, stream=stream("orders", groups), groups=views, findings=())
    return replace(OBSERVATION, snapshot=snapshot(orders.stream), streams=(orders,), findings=())


def lag_of(lower: int | None, upper: int | None) -> ConsumerGroup:
    return group("billing", lag=Lag(None, lower, upper, LagBasis.UNKNOWN, ""))


@table(
    ("lower", "upper", "limit", "verdict"),
    [
        (5, 5, 5, ProbeVerdict.HELD),
        (6, 6, 5, ProbeVerdict.BREACHED),
        (0, 5, 5, ProbeVerdict.HELD),
        (6, 9, 5, ProbeVerdict.BREACHED),
        (5, 6, 5, ProbeVerdict.NOT_KNOWN),
        (None, 5, 5, ProbeVerdict.HELD),
        (None, 6, 5, ProbeVerdict.NOT_KNOWN),
        (6, None, 5, ProbeVerdict.BREACHED),
        (5, None, 5, ProbeVerdict.NOT_KNOWN),
        (None, None, 5, ProbeVerdict.NOT_KNOWN),
        (0, 0, 0, ProbeVerdict.HELD),
    ],
)
def test_bounds_against_a_limit(
    lower: int | None, upper: int | None, limit: int, verdict: ProbeVerdict
) -> None:
    assert Bounds(lower, upper).against(limit) is verdict
    assert assess_probe(observation(lag_of(lower, upper)), ProbeLimits(lag=limit)).verdict is verdict


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_a_verdict_within_bounds_is_right_for_every_truth_within_them(
    low: int, more: int, part: int, limit: int
) -> None:
    truth = low + min(part, more)
    verdict = Bounds(low, low + more).against(limit)
    if verdict is ProbeVerdict.HELD:
        assert truth <= limit
    if verdict is ProbeVerdict.BREACHED:
        assert truth > limit


@table(
    ("state", "limits", "verdict"),
    [
        (group(waiting=minutes(1)), ProbeLimits(time_lag=minutes(1)), ProbeVerdict.HELD),
        (group(waiting=minutes(2)), ProbeLimits(time_lag=minutes(1)), ProbeVerdict.BREACHED),
        (group(pending=0), ProbeLimits(pending_age=timedelta(0)), ProbeVerdict.HELD),
        (
            group(pending=1, oldest=pending_entry(minutes(3)), oldest_age=minutes(3)),
            ProbeLimits(pending_age=minutes(2)),
            ProbeVerdict.BREACHED,
        ),
        (group(pending=1), ProbeLimits(pending_age=minutes(2)), ProbeVerdict.NOT_KNOWN),
        (
            group(pending=1, oldest=pending_entry(idle=minutes(3))),
            ProbeLimits(pending_age=minutes(2)),
            ProbeVerdict.BREACHED,
        ),
        (
            group(pending=1, oldest=pending_entry(idle=minutes(1))),
            ProbeLimits(pending_age=minutes(2)),
            ProbeVerdict.NOT_KNOWN,
        ),
    ],
)
def test_a_probe_of_ages_holds_is_breached_or_cannot_be_told(
    state: ConsumerGroup, limits: ProbeLimits, verdict: ProbeVerdict
) -> None:
    assert assess_probe(observation(state), limits).verdict is verdict


def test_dead_letters_are_counted_in_dead_letter_queues_only() -> None:
    both = replace(
        OBSERVATION, snapshot=snapshot(ORDERS.stream, LETTERS_VIEW.stream), streams=(ORDERS, LETTERS_VIEW)
    )
    assert assess_probe(both, ProbeLimits(dead_letters=2)).verdict is ProbeVerdict.HELD
    result = assess_probe(both, ProbeLimits(dead_letters=1))
    assert [reading.subject for reading in result.faults] == ["orders:dlq"]
    assert result.verdict is ProbeVerdict.BREACHED


@table(
    ("health", "verdict"),
    [
        (Health.OK, ProbeVerdict.HELD),
        (Health.WARN, ProbeVerdict.WARNED),
        (Health.CRITICAL, ProbeVerdict.BREACHED),
        (Health.UNKNOWN, ProbeVerdict.NOT_KNOWN),
    ],
)
def test_without_limits_the_health_rules_decide(health: Health, verdict: ProbeVerdict) -> None:
    assert assess_probe(observation(group(), health=health), ProbeLimits()).verdict is verdict


def test_one_unknown_among_warnings_is_not_known_but_a_breach_is_a_breach() -> None:
    mixed = [group("a", lag=exact(9)), lag_of(None, None)]
    assert assess_probe(observation(*mixed), ProbeLimits(lag=10)).verdict is ProbeVerdict.NOT_KNOWN
    assert assess_probe(observation(*mixed), ProbeLimits(lag=8)).verdict is ProbeVerdict.BREACHED


def missing(result: ProbeResult) -> list[tuple[str, str]]:
    return [(reading.subject, reading.text) for reading in result.faults]


def test_what_was_not_read_is_not_known() -> None:
    fine = observation(group(position=entry_id()))
    limits = ProbeLimits(lag=10**9)
    assert assess_probe(fine, limits, named=["orders"], max_streams=1).verdict is ProbeVerdict.HELD
    assert missing(assess_probe(fine, limits, named=["gone"])) == [("gone", "no such stream")]
    assert missing(assess_probe(NOTHING, limits)) == [("server", "no stream matches")]
    assert missing(assess_probe(NOTHING, limits, named=["gone"])) == [("gone", "no such stream")]
    many = replace(fine, snapshot=replace(fine.snapshot, discovered=7))
    assert missing(assess_probe(many, limits, max_streams=5)) == [
        ("server", "2 streams beyond max_streams were not read")
    ]


def test_consumers_that_were_not_read_do_not_matter_to_a_probe() -> None:
    result = assess_probe(OBSERVATION, ProbeLimits(lag=10**9))
    assert missing(result) == [("secret", "no permission for this key")]
