"""Entries that were given back: their idle time is streamops's own number, told as free and not as 30 days."""

from datetime import timedelta

from streamops.model.entries import EntryId
from streamops.model.observation import FindingCode
from streamops.operations.nack.intent import NackIntent
from streamops.resources.groups import group_json
from tests.support.operations.doing import done, open_console
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "billing"


def give(server: RunningServer, *, minutes_old: int) -> list[EntryId]:
    """Two entries of some age, pending with a consumer."""
    first = int(server.command("TIME")[0]) * 1_000 - minutes_old * 60_000
    ids = [EntryId(first, 0), EntryId(first, 1)]
    for one in ids:
        server.command("XADD", STREAM, str(one), "n", 1)
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0")
    server.command("XREADGROUP", "GROUP", GROUP, "w", "STREAMS", STREAM, ">")
    return ids


async def test_entry_given_back_is_told_as_free_with_its_age(server: RunningServer) -> None:
    ids = give(server, minutes_old=20)
    async with await open_console(server) as console:
        await done(console, NackIntent(stream=STREAM, group=GROUP, ids=tuple(ids)))
        (view,) = (await console.observe([STREAM])).streams[0].groups
    oldest = group_json(view)["oldest_pending"]
    assert (oldest["free"], oldest["idle_seconds"], oldest["age_seconds"] // 60) == (True, None, 20)
    (finding,) = view.findings
    assert finding.code is FindingCode.PENDING_OLD
    assert "free for any consumer and 20 min old by its ID" in finding.text
    profile = view.group.profile
    assert profile is not None
    assert (profile.free, profile.longest_idle, sum(profile.idle_buckets)) == (2, None, 0)


async def test_young_entry_given_back_is_no_finding(server: RunningServer) -> None:
    ids = give(server, minutes_old=1)
    async with await open_console(server) as console:
        await done(console, NackIntent(stream=STREAM, group=GROUP, ids=tuple(ids)))
        (view,) = (await console.observe([STREAM])).streams[0].groups
    assert view.findings == ()
    assert view.group.oldest_pending is not None
    assert view.group.oldest_pending.idle >= timedelta(days=30)
