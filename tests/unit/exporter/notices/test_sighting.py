"""What an observation shows, and what it leaves open."""

import pytest
from msgspec.structs import replace

from streamops.exporter.notices.sighting import (
    COLLECTION_FAILING,
    REDIS_DOWN,
    Subject,
    see,
    see_down,
    see_failing,
)
from streamops.model.observation import FindingCode, Health, Observation
from streamops.model.snapshot import NO_SUCH_STREAM, Gap
from tests.support.exporter.found import finding, group_view, observation, stream_view
from tests.support.invented import NOW, bounded, group, minutes, node

STOPPED = Subject(FindingCode.STOPPED, "orders", "billing")


def of_billing(code: FindingCode) -> Subject:
    return Subject(code, "orders", "billing")


def test_findings_of_groups_streams_and_the_server_are_each_a_condition() -> None:
    shown = see(
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
        Subject(FindingCode.DEAD_LETTERS, "orders"): Health.WARN,
        Subject(FindingCode.OOM): Health.WARN,
    }


def test_processes_that_suffer_from_the_same_are_one_condition_of_the_worst_level() -> None:
    texts = [f"node {number}" for number in range(5)]
    found = [
        finding(FindingCode.OOM, Health.CRITICAL if text[-1] == "3" else Health.WARN, text) for text in texts
    ]
    only = see(observation(findings=found)).found[Subject(FindingCode.OOM)]
    assert only.level is Health.CRITICAL
    assert only.text == "node 0; node 1; node 2; and 2 more"


def test_what_is_well_and_was_read_leaves_nothing_open() -> None:
    doubted = see(observation(stream_view(group_view()))).doubted
    assert not any(doubted(of_billing(code)) for code in FindingCode)
    assert not doubted(Subject(FindingCode.DEAD_LETTERS, "orders"))
    assert not doubted(Subject(FindingCode.OOM))
    assert not doubted(Subject(REDIS_DOWN))


def test_a_stream_or_group_that_is_gone_is_known_to_be() -> None:
    doubted = see(observation(stream_view(group_view()))).doubted
    assert not doubted(Subject(FindingCode.STOPPED, "orders", "gone"))
    assert not doubted(Subject(FindingCode.STOPPED, "gone", "billing"))
    pinned = see(observation(gaps=[Gap(NO_SUCH_STREAM, "gone")])).doubted
    assert not pinned(Subject(FindingCode.STOPPED, "gone", "billing"))


ABSENT = observation(stream_view(group_view(), name="others"))


@pytest.mark.parametrize(
    "seen",
    [
        replace(ABSENT, snapshot=replace(ABSENT.snapshot, gaps=(Gap("timeout", "orders"),))),
        replace(ABSENT, snapshot=replace(ABSENT.snapshot, gaps=(Gap("away", part="node 10.0.0.1:6379"),))),
        replace(ABSENT, snapshot=replace(ABSENT.snapshot, gaps=(Gap("away", part="discovery"),))),
        replace(ABSENT, snapshot=replace(ABSENT.snapshot, discovery_complete=False)),
        replace(ABSENT, snapshot=replace(ABSENT.snapshot, discovered=5)),
    ],
    ids=["gap", "node", "discovery", "first pass", "cut list"],
)
def test_a_stream_that_may_only_not_have_been_seen_is_open(seen: Observation) -> None:
    assert see(seen).doubted(STOPPED)
    assert not see(ABSENT).doubted(STOPPED)


@pytest.mark.parametrize("part", ["server clock", "server information"])
def test_what_the_server_does_not_tell_of_itself_leaves_no_stream_open(part: str) -> None:
    assert not see(observation(gaps=[Gap("NOPERM", part=part)])).doubted(STOPPED)


@pytest.mark.parametrize("nodes", [[node(used_memory=None)], [node(max_memory=None)]])
def test_memory_that_is_not_told_leaves_the_servers_findings_open(nodes: list) -> None:  # type: ignore[type-arg]
    doubted = see(observation(nodes=nodes)).doubted
    assert doubted(Subject(FindingCode.OOM))
    assert doubted(Subject(FindingCode.EVICTION_RISK))
    assert not doubted(Subject(REDIS_DOWN))


def test_a_group_that_could_not_be_read_is_open() -> None:
    shown = see(observation(stream_view(group_view()), gaps=[Gap("NOPERM", "orders", "billing")]))
    assert all(shown.doubted(of_billing(code)) for code in FindingCode)


def test_unread_consumers_leave_open_what_rests_on_them_alone() -> None:
    holding = group(pending=3)
    gaps = [Gap("too many", "orders", "billing", "consumers")]
    doubted = see(observation(stream_view(group_view(group_=holding)), gaps=gaps)).doubted
    assert doubted(of_billing(FindingCode.DEAD_CONSUMER))
    assert not doubted(of_billing(FindingCode.STOPPED))
    assert not doubted(of_billing(FindingCode.POISON))
    empty = see(observation(stream_view(group_view()), gaps=gaps)).doubted
    assert not empty(of_billing(FindingCode.DEAD_CONSUMER))


def test_an_unknown_lag_leaves_open_what_rests_on_it_alone() -> None:
    unknown = group(lag=bounded(None, 100), waiting=None)
    doubted = see(observation(stream_view(group_view(group_=unknown)))).doubted
    for code in (
        FindingCode.STOPPED,
        FindingCode.LAG_GROWING,
        FindingCode.BEHIND,
        FindingCode.RETENTION_EDGE,
    ):
        assert doubted(of_billing(code))
    for code in (FindingCode.NO_CONSUMERS, FindingCode.POISON, FindingCode.LOST):
        assert not doubted(of_billing(code))


def test_a_group_for_which_some_are_known_to_wait_is_judged_whatever_its_lag() -> None:
    waiting = group_view(group_=group(lag=bounded(1, 100), waiting=None))
    assert not see(observation(stream_view(waiting))).doubted(STOPPED)


def test_what_another_finding_explains_is_open_while_that_holds() -> None:
    stopped = group_view(finding(FindingCode.STOPPED, Health.CRITICAL))
    doubted = see(observation(stream_view(stopped))).doubted
    assert doubted(of_billing(FindingCode.BEHIND))
    assert doubted(of_billing(FindingCode.LAG_GROWING))
    assert not doubted(of_billing(FindingCode.POISON))


def test_a_young_history_leaves_open_what_only_time_shows() -> None:
    young = observation(stream_view(group_view()), since=NOW - minutes(5))
    assert see(young).doubted(of_billing(FindingCode.STALLED))
    assert not see(young).doubted(of_billing(FindingCode.POISON))


def test_while_redis_is_down_nothing_else_is_known() -> None:
    shown = see_down("connection refused")
    assert list(shown.found) == [Subject(REDIS_DOWN)]
    assert "connection refused" in shown.found[Subject(REDIS_DOWN)].text
    assert shown.doubted(STOPPED)
    assert shown.doubted(Subject(COLLECTION_FAILING))


def test_where_redis_answers_and_refuses_it_is_not_down() -> None:
    refused = see_failing("wrong password", answered=True)
    assert list(refused.found) == [Subject(COLLECTION_FAILING)]
    assert not refused.doubted(Subject(REDIS_DOWN))
    assert refused.doubted(STOPPED)
    assert see_failing("nothing for 60 s", answered=False).doubted(Subject(REDIS_DOWN))
