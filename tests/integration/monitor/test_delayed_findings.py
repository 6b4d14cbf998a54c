"""Findings on delayed queues: overdue messages, and members of other programs."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.exporter.alerts import evaluation_of
from streamops.model.acting import Actor
from streamops.model.delayed import DelayedBody
from streamops.model.observation import FindingCode, Observation
from streamops.model.secret import Secret
from streamops.monitor.thresholds import Thresholds
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.resources.findings import finding_rows
from streamops.wire.delayed import encode_body
from tests.support.cli.running import Place, runner
from tests.support.eventually import eventually
from tests.support.servers import RunningServer

QUEUE = "{orders}:delayed"
OVERDUE, FOREIGN = FindingCode.DELAYED_OVERDUE, FindingCode.DELAYED_FOREIGN


def delay(server: RunningServer, minutes: float, queue: str = QUEUE) -> None:
    """A message that has been due for so long."""
    seconds, micros = map(int, server.command("TIME"))
    due = seconds * 1000 + micros // 1000 - int(minutes * 60_000)
    server.command(
        "HSET", f"{queue}:jobs", f"m{minutes}", encode_body(DelayedBody("orders", ((b"n", b"1"),)))
    )
    server.command("ZADD", queue, due, f"m{minutes}")


async def observed(server: RunningServer, watch: Watch | None = None, *only: str) -> Observation:
    async with await Console.open(server.options, watch, Thresholds(), actor=Actor("ann", "x", 1)) as console:
        await console.discover(queues=True)
        return await console.observe(only)


def found(observation: Observation) -> list[FindingCode]:
    streams = [finding for stream in observation.streams for finding in stream.findings]
    return [finding.code for finding in (*streams, *observation.findings)]


# every server: 6.2 has no read-only scripts
async def test_messages_overdue_beyond_the_threshold_are_a_finding(server: RunningServer) -> None:
    server.command("XADD", "orders", "1-0", "n", 1)
    delay(server, 1.5)
    assert found(await observed(server)) == []
    delay(server, 10)
    (stream,) = (await observed(server)).streams
    (finding,) = stream.findings
    assert finding.code is OVERDUE
    assert finding.text.startswith("2 delayed messages of orders are overdue, the first by 10 min")
    assert "streamops delayed run-now orders --before 0s" in finding.advice


async def test_foreign_members_are_a_finding_and_never_overdue(server: RunningServer) -> None:
    server.command("XADD", "orders", "1-0", "n", 1)
    server.command("ZADD", "theirs", *(word for n in range(600) for word in (n, f"job-{n}")))
    watch = Watch(delayed={"orders": "theirs"})
    assert found(await observed(server, watch)) == [FOREIGN]
    server.command("ZREMRANGEBYRANK", "theirs", 100, -1)
    delay(server, 10, "theirs")
    assert found(await observed(server, watch)) == [OVERDUE, FOREIGN]


async def test_a_queue_whose_stream_is_gone_is_judged_where_it_is_wanted(server: RunningServer) -> None:
    server.command("XADD", "other", "1-0", "n", 1)
    delay(server, 10, "theirs")
    mapped = {"orders": "theirs"}
    assert found(await observed(server, Watch(delayed=mapped))) == [OVERDUE]
    assert found(await observed(server, Watch(delayed=mapped, streams=("other",)))) == []
    assert found(await observed(server, Watch(delayed=mapped), "other")) == []


async def test_a_queue_beside_no_stream_is_judged_where_its_stream_is_wanted(server: RunningServer) -> None:
    server.command("XADD", "other", "1-0", "n", 1)
    delay(server, 10)
    observation = await observed(server)
    (finding,) = observation.findings
    assert finding.code is OVERDUE
    assert "streamops delayed run-now orders --before 0s" in finding.advice
    assert [(about.code, about.stream) for about in evaluation_of(observation).found] == [(OVERDUE, "orders")]
    assert [row.stream for row in finding_rows(observation)] == ["orders"]
    assert found(await observed(server, Watch(streams=("ord*",)))) == [OVERDUE]
    assert found(await observed(server, Watch(streams=("orders",)))) == [OVERDUE]
    assert found(await observed(server, None, "orders")) == [OVERDUE]
    for watch in (Watch(streams=("other",)), Watch(exclude=("ord*",)), Watch(streams=("oth*",))):
        assert found(await observed(server, watch)) == []
    assert found(await observed(server, None, "other")) == []


async def test_a_queue_beside_no_stream_is_found_in_the_background(server: RunningServer) -> None:
    delay(server, 10)
    async with await Console.open(server.options) as console:
        console.start_discovery()
        await eventually(lambda: bool(console.discovery.queues))
        assert found(await console.observe()) == [OVERDUE]


async def test_one_who_may_not_see_queues_has_no_doubt_about_streams(server: RunningServer) -> None:
    server.command("XADD", "orders", "1-0", "n", 1)
    delay(server, 10)
    server.command("ACL", "SETUSER", "ann", "reset", "on", ">right", "~orders", "+@all")
    options = replace(server.options, username="ann", password=Secret("right"))
    async with await Console.open(options) as console:
        await console.discover()
        observation = await console.observe()
    server.command("ACL", "DELUSER", "ann")
    assert (found(observation), [gap.part for gap in observation.snapshot.gaps]) == ([], [])


async def test_one_who_may_run_no_script_sees_what_is_overdue(server: RunningServer) -> None:
    server.command("XADD", "orders", "1-0", "n", 1)
    delay(server, 10)
    rules = ("~*", "+@all", "-eval", "-evalsha", "-eval_ro", "-evalsha_ro")
    server.command("ACL", "SETUSER", "ann", "reset", "on", ">right", *rules)
    options = replace(server.options, username="ann", password=Secret("right"))
    async with await Console.open(options) as console:
        await console.discover()
        observation = await console.observe()
    server.command("ACL", "DELUSER", "ann")
    assert found(observation) == [OVERDUE]


@pytest.mark.parametrize("has_stream", [True, False])
def test_check_breaches_while_messages_are_overdue(
    *,
    has_stream: bool,
    server: RunningServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    Place(tmp_path, monkeypatch)
    cli = runner(capfd)
    if has_stream:
        server.command("XADD", "orders", "1-0", "n", 1)
        assert cli("check", "--url", server.url).code == 0
    delay(server, 10)
    assert "10 min" in cli("status", "--url", server.url).out
    told = cli("check", "--url", server.url)
    assert told.code == 10
    assert "1 delayed message of orders is overdue, the first by 10 min" in told.out
