"""Entries that are pending while nothing is acknowledged: a warning on every server, in words that it can vouch for."""

from datetime import timedelta

from streamops.model.observation import Finding, FindingCode, Health
from streamops.monitor.doctor import examine
from streamops.monitor.thresholds import Thresholds
from streamops.operations.console import Console
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "billing"
AT_ONCE = timedelta(microseconds=1)
OLD = {"redis-6.2", "redis-7.0"}


# every server: idle times mean something else before Redis 7.2
async def test_pending_entries_of_unseen_consumers_are_a_warning(server: RunningServer) -> None:
    for number in range(1, 501):
        server.command("XADD", STREAM, f"{number}-0", "n", number)
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0")
    for name in ("a", "b"):
        server.command("XREADGROUP", "GROUP", GROUP, name, "COUNT", 250, "STREAMS", STREAM, ">")
    # Seen, and too young to be suspected: by now not seen for as long as the rule waits.
    async with await Console.open(server.options, thresholds=Thresholds(stalled_after=AT_ONCE)) as console:
        findings: tuple[Finding, ...] = ()
        while not findings:
            (view,) = (await console.observe([STREAM])).streams[0].groups
            findings = view.findings
    (finding,) = findings
    assert (finding.code, finding.level) == (FindingCode.STALLED, Health.WARN)
    assert finding.text.startswith("500 entries are pending and none was acknowledged")
    assert ("does not tell whether they wait, work or are dead" in finding.text) == (server.label in OLD)


# every server: as above
async def test_doctor_says_where_idle_and_dead_look_alike(server: RunningServer) -> None:
    told = [each for each in await examine(server.options) if each.topic == "consumers"]
    assert [each.health for each in told] == ([Health.WARN] if server.label in OLD else [])
