"""What an observation shows, and what it leaves open."""

import pytest
from msgspec.structs import replace

from streamops.exporter.alerts import (
    COLLECTION_FAILING,
    REDIS_DOWN,
    AlertSource,
    evaluate_failing,
    evaluation_of,
)
from streamops.model.observation import FindingCode, Health, Observation
from streamops.model.streams import NO_SUCH_STREAM, ReadError, StreamRole
from tests.support.exporter.found import finding, group_view, observation, stream_view
from tests.support.invented import NOW, bounded, group, minutes, node
from tests.support.tables import table

RETRIES = "{orders}:retry:billing"
STOPPED = AlertSource(FindingCode.STOPPED, "orders", "billing")


def of_billing(code: FindingCode) -> AlertSource:
    return AlertSource(code, "orders", "billing")


def test_findings_of_groups_streams_and_the_server_are_each_a_condition() -> None:
    shown = evaluation_of(
        observation(
            stream_view(
                group_view(finding(FindingCode.STOPPED, Health.CRITICAL)),
                findings=[finding(FindingCode.DEAD_LETTERS)],
            ),
            findings=[finding(FindingCode.OOM)],
        )
    )
    assert {subject: found.level for subject, found in shown.found.items()} == {
        STOPPED: Health.CRITICAL,
        AlertSource(FindingCode.DEAD_LETTERS, "orders"): Health.WARN,
        AlertSource(FindingCode.OOM): Health.WARN,
    }


def test_a_dead_group_is_one_condition_and_its_retries_are_not_resolved_by_that() -> None:
    stopped = finding(FindingCode.STOPPED, Health.CRITICAL)
    own = stream_view(group_view(stopped))
    retries = stream_view(group_view(stopped, stream_name=RETRIES), name=RETRIES)
    retries = replace(retries, stream=replace(retries.stream, role=StreamRole.RETRY, source="orders"))
    shown = evaluation_of(observation(own, retries))
    assert [*shown.found] == [STOPPED]
    assert shown.unknown(AlertSource(FindingCode.STOPPED, RETRIES, "billing"))


def test_processes_that_suffer_from_the_same_are_one_condition_the_worst() -> None:
    found = [
        finding(FindingCode.OOM, Health.CRITICAL if node == 3 else Health.WARN, f"node {node}")
        for node in range(5)
    ]
    only = evaluation_of(observation(findings=found)).found[AlertSource(FindingCode.OOM)]
    assert only.level is Health.CRITICAL
    assert only.text == "node 3"


def test_what_is_well_and_was_read_leaves_nothing_open() -> None:
    unknown = evaluation_of(observation(stream_view(group_view()))).unknown
    assert not any(unknown(of_billing(code)) for code in FindingCode)
    assert not unknown(AlertSource(FindingCode.DEAD_LETTERS, "orders"))
    assert not unknown(AlertSource(FindingCode.OOM))
    assert not unknown(AlertSource(REDIS_DOWN))


def test_a_stream_or_group_that_is_gone_is_known_to_be() -> None:
    unknown = evaluation_of(observation(stream_view(group_view()))).unknown
    assert not unknown(AlertSource(FindingCode.STOPPED, "orders", "gone"))
    assert not unknown(AlertSource(FindingCode.STOPPED, "gone", "billing"))
    pinned = evaluation_of(observation(gaps=[ReadError(NO_SUCH_STREAM, "gone")])).unknown
    assert not pinned(AlertSource(FindingCode.STOPPED, "gone", "billing"))


ABSENT = observation(stream_view(group_view(), name="others"))


@table(
    "seen",
    [
        replace(ABSENT, snapshot=replace(ABSENT.snapshot, gaps=(ReadError("timeout", "orders"),))),
        replace(
            ABSENT, snapshot=replace(ABSENT.snapshot, gaps=(ReadError("away", part="node 10.0.0.1:6379"),))
        ),
        replace(ABSENT, snapshot=replace(ABSENT.snapshot, gaps=(ReadError("away", part="discovery"),))),
        replace(ABSENT, snapshot=replace(ABSENT.snapshot, discovery_complete=False)),
        replace(ABSENT, snapshot=replace(ABSENT.snapshot, discovered=5)),
    ],
)
def test_a_stream_that_may_only_not_have_been_seen_is_open(seen: Observation) -> None:
    assert evaluation_of(seen).unknown(STOPPED)
    assert not evaluation_of(ABSENT).unknown(STOPPED)


@pytest.mark.parametrize("part", ["server clock", "server information"])
def test_what_the_server_does_not_tell_of_itself_leaves_no_stream_open(part: str) -> None:
    assert not evaluation_of(observation(gaps=[ReadError("NOPERM", part=part)])).unknown(STOPPED)


@pytest.mark.parametrize("nodes", [[node(used_memory=None)], [node(max_memory=None)]])
def test_memory_that_is_not_told_leaves_the_servers_findings_open(nodes: list) -> None:  # type: ignore[type-arg]
    unknown = evaluation_of(observation(nodes=nodes)).unknown
    assert unknown(AlertSource(FindingCode.OOM))
    assert unknown(AlertSource(FindingCode.EVICTION_RISK))
    assert not unknown(AlertSource(REDIS_DOWN))


def test_a_group_that_could_not_be_read_is_open() -> None:
    shown = evaluation_of(
        observation(stream_view(group_view()), gaps=[ReadError("NOPERM", "orders", "billing")])
    )
    assert all(shown.unknown(of_billing(code)) for code in FindingCode)


def test_unread_consumers_leave_open_what_rests_on_them_alone() -> None:
    holding = group(pending=3)
    gaps = [ReadError("too many", "orders", "billing", "consumers")]
    unknown = evaluation_of(observation(stream_view(group_view(group_=holding)), gaps=gaps)).unknown
    assert unknown(of_billing(FindingCode.DEAD_CONSUMER))
    assert not unknown(of_billing(FindingCode.STOPPED))
    assert not unknown(of_billing(FindingCode.POISON))
    empty = evaluation_of(observation(stream_view(group_view()), gaps=gaps)).unknown
    assert not empty(of_billing(FindingCode.DEAD_CONSUMER))


def test_an_unknown_lag_leaves_open_what_rests_on_it_alone() -> None:
    unsure = group(lag=bounded(None, 100), waiting=None)
    unknown = evaluation_of(observation(stream_view(group_view(group_=unsure)))).unknown
    for code in (
        FindingCode.STOPPED,
        FindingCode.LAG_GROWING,
        FindingCode.BEHIND,
        FindingCode.RETENTION_EDGE,
    ):
        assert unknown(of_billing(code))
    for code in (FindingCode.NO_CONSUMERS, FindingCode.POISON, FindingCode.LOST):
        assert not unknown(of_billing(code))


def test_a_group_for_which_some_are_known_to_wait_is_judged_whatever_its_lag() -> None:
    waiting = group_view(group_=group(lag=bounded(1, 100), waiting=None))
    assert not evaluation_of(observation(stream_view(waiting))).unknown(STOPPED)


def test_what_another_finding_explains_is_open_while_that_holds() -> None:
    stopped = group_view(finding(FindingCode.STOPPED, Health.CRITICAL))
    unknown = evaluation_of(observation(stream_view(stopped))).unknown
    assert unknown(of_billing(FindingCode.BEHIND))
    assert unknown(of_billing(FindingCode.LAG_GROWING))
    assert not unknown(of_billing(FindingCode.POISON))


def test_a_young_history_leaves_open_what_only_time_shows() -> None:
    young = observation(stream_view(group_view()), since=NOW - minutes(5))
    assert evaluation_of(young).unknown(of_billing(FindingCode.STALLED))
    assert not evaluation_of(young).unknown(of_billing(FindingCode.POISON))


@pytest.mark.parametrize("down", [True, False])
def test_while_nothing_is_collected_nothing_else_is_known(*, down: bool) -> None:
    shown = evaluate_failing("connection refused", down=down)
    (only,) = shown.found.values()
    assert only.subject == AlertSource(REDIS_DOWN if down else COLLECTION_FAILING)
    assert "connection refused" in only.text
    assert shown.unknown(STOPPED)
    assert shown.unknown(AlertSource(COLLECTION_FAILING if down else REDIS_DOWN))
