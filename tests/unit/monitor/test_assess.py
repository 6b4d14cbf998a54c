"""Observations: what is judged, in which order, and how health rolls up."""

from collections.abc import Sequence

import pytest
from hypothesis import given

from streamops.model.lag import Lag, LagBasis
from streamops.model.observation import FindingCode, Health, Observation
from streamops.model.streams import ReadError, ServerNode, Snapshot, StreamRole, StreamState
from streamops.monitor.history import History, advance
from streamops.monitor.observe import assess
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import (
    bounded,
    consumer,
    group,
    minutes,
    node,
    snapshot,
    stream,
)
from tests.support.strategies import FEWER_EXAMPLES, polls

THRESHOLDS = Thresholds()


def judge(*readings: Snapshot, selector: str = "") -> Observation:
    history: History | None = None
    for reading in readings:
        history = advance(history, reading, THRESHOLDS)
    assert history is not None
    return assess(readings[-1], history, THRESHOLDS, selector=selector)


def healths(observation: Observation) -> tuple[Health, list[Health], list[Health]]:
    """Of the whole, of the streams, of all groups."""
    return (
        observation.health,
        [of.health for of in observation.streams],
        [of.health for of_stream in observation.streams for of in of_stream.groups],
    )


def test_commands_in_advice_choose_the_server_that_was_chosen_by_hand() -> None:
    dead = group("billing", pending=3, members=(consumer(pending=3, idle=minutes(20)),))
    reading = snapshot(stream(groups=[dead]))
    (plain,) = judge(reading).streams[0].groups[0].findings
    (chosen,) = judge(reading, selector="-c prod").streams[0].groups[0].findings
    assert "streamops claim orders billing" in plain.advice
    assert chosen.advice == plain.advice.replace("streamops claim", "streamops -c prod claim")


OK, UNKNOWN, WARN, CRITICAL = Health.OK, Health.UNKNOWN, Health.WARN, Health.CRITICAL
ABANDONED = group("abandoned", lag=5, waiting=minutes(1), members=())
FORGOTTEN = group("forgotten", lag=5, waiting=minutes(9), members=())
OPAQUE = group("opaque", lag=bounded(0, 9))
FINE = group("fine")


@pytest.mark.parametrize(
    ("streams", "whole", "of_streams", "of_groups"),
    [
        pytest.param([], OK, [], [], id="nothing"),
        pytest.param([stream()], OK, [OK], [], id="no groups"),
        pytest.param([stream(groups=[FINE])], OK, [OK], [OK], id="fine"),
        pytest.param([stream(groups=[FINE, OPAQUE])], UNKNOWN, [UNKNOWN], [OK, UNKNOWN], id="lag unknown"),
        pytest.param(
            [stream(groups=[OPAQUE, ABANDONED])], WARN, [WARN], [UNKNOWN, WARN], id="wrong beats unknown"
        ),
        pytest.param(
            [stream(groups=[FORGOTTEN, ABANDONED]), stream("payments", [FINE])],
            CRITICAL,
            [CRITICAL, OK],
            [CRITICAL, WARN, OK],
            id="the worst, stream by stream",
        ),
        pytest.param(
            [stream("orders:dlq", [FORGOTTEN, OPAQUE], role=StreamRole.DEAD_LETTERS)],
            WARN,
            [WARN],
            [OK, OK],
            id="groups of dead letters are not judged",
        ),
        pytest.param(
            [stream("orders:dlq", [OPAQUE], role=StreamRole.DEAD_LETTERS, length=0)],
            OK,
            [OK],
            [OK],
            id="no dead letters",
        ),
        pytest.param(
            [stream("orders:retry", [FORGOTTEN], role=StreamRole.RETRY)],
            CRITICAL,
            [CRITICAL],
            [CRITICAL],
            id="groups of retry streams are judged",
        ),
    ],
)
def test_health_is_that_of_the_worst(
    streams: Sequence[StreamState], whole: Health, of_streams: list[Health], of_groups: list[Health]
) -> None:
    assert healths(judge(snapshot(*streams))) == (whole, of_streams, of_groups)


@pytest.mark.parametrize(
    ("gap", "whole", "of_streams", "of_groups"),
    [
        pytest.param(ReadError("unreachable"), UNKNOWN, [OK, OK], [OK, OK], id="a node"),
        pytest.param(ReadError("NOPERM", "others"), UNKNOWN, [OK, OK], [OK, OK], id="another stream"),
        pytest.param(
            ReadError("NOPERM", "orders", None, "ids"), UNKNOWN, [UNKNOWN, OK], [OK, OK], id="a stream's part"
        ),
        pytest.param(
            ReadError("NOPERM", "orders", "fine", "consumers"),
            UNKNOWN,
            [UNKNOWN, OK],
            [UNKNOWN, OK],
            id="a group's part",
        ),
    ],
)
def test_a_gap_is_never_ok(
    gap: ReadError, whole: Health, of_streams: list[Health], of_groups: list[Health]
) -> None:
    reading = snapshot(stream(groups=[FINE]), stream("payments", [FINE]), gaps=[gap])
    assert healths(judge(reading)) == (whole, of_streams, of_groups)


def test_what_is_found_in_spite_of_a_gap_stands() -> None:
    reading = snapshot(
        stream(groups=[ABANDONED]), gaps=[ReadError("NOPERM", "orders", "abandoned", "consumers")]
    )
    assert healths(judge(reading)) == (WARN, [WARN], [WARN])


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        pytest.param([node()], [], id="no limit"),
        pytest.param(
            [
                node(address="a", max_memory=100, used_memory=95),
                node(address="b", max_memory=100, used_memory=5),
            ],
            [("oom", "a: 95% ")],
            id="the one of a cluster that is full",
        ),
        pytest.param(
            [
                node(address="a", max_memory=100, used_memory=5, policy="allkeys-lru"),
                node(address="b", max_memory=100, used_memory=95),
            ],
            [("oom", "b: 95% "), ("eviction_risk", "a: the policy ")],
            id="worst first",
        ),
    ],
)
def test_the_server_is_judged(nodes: list[ServerNode], found: list[tuple[str, str]]) -> None:
    observation = judge(snapshot(stream(groups=[FINE]), nodes=nodes))
    assert [finding.code.value for finding in observation.findings] == [code for code, _ in found]
    for finding, (_, beginning) in zip(observation.findings, found, strict=True):
        assert finding.text.startswith(beginning)
    assert observation.health is (CRITICAL if found else OK)


UNSEEN = group(pending=3, members=[consumer(pending=3, idle=minutes(12), inactive=minutes(12))])


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        pytest.param([node()], [FindingCode.DEAD_CONSUMER], id="a primary"),
        pytest.param([node(role="slave")], [], id="a replica, where idle times are not true"),
        pytest.param([node(), node(role="slave")], [], id="a replica among them"),
        pytest.param([node(version=(7, 0, 15))], [], id="before 7.2, where idle times tell less"),
        pytest.param([node(), node(version=(6, 2, 14))], [], id="one before 7.2 among them"),
        pytest.param([node(version=(0, 0, 0), role="")], [], id="version not known"),
        pytest.param([], [], id="no node said anything"),
    ],
)
def test_idle_times_are_read_as_the_server_means_them(
    nodes: list[ServerNode], found: list[FindingCode]
) -> None:
    observation = judge(snapshot(stream(groups=[UNSEEN]), nodes=nodes))
    assert [finding.code for finding in observation.streams[0].groups[0].findings] == found


def test_an_estimated_lag_is_no_known_one() -> None:
    estimated = Lag(7, 1, 9, LagBasis.ESTIMATED, "estimated from the times in IDs")
    view = judge(snapshot(stream(groups=[group(lag=estimated)]))).streams[0].groups[0]
    assert view.trend == (None,)
    assert view.health is UNKNOWN


@given(polls(most=2))
@FEWER_EXAMPLES
def test_any_snapshots_make_an_observation(readings: list[Snapshot]) -> None:
    history: History | None = None
    for reading in readings:
        history = advance(history, reading, THRESHOLDS)
        check(assess(reading, history, THRESHOLDS), reading)


def check(observation: Observation, reading: Snapshot) -> None:
    """What holds of every observation."""
    assert observation.snapshot is reading
    assert [of.stream for of in observation.streams] == list(reading.streams)
    assert observation.health == max(
        [OK, *(of.health for of in observation.streams), *(finding.level for finding in observation.findings)]
        + [UNKNOWN] * bool(reading.gaps)
    )
    for view in observation.streams:
        assert [of.group for of in view.groups] == list(view.stream.groups)
        assert view.health >= max([OK, *(of.health for of in view.groups)])
        for of in view.groups:
            levels = [finding.level for finding in of.findings]
            assert levels == sorted(levels, reverse=True)
            assert of.health is levels[0] if levels else of.health in (OK, UNKNOWN)
            for finding in of.findings:
                assert finding.level in (WARN, CRITICAL)
                assert finding.text.isprintable()
                assert finding.advice.isprintable()
