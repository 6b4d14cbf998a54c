"""What a user may not do costs just that: the reader steps down, and what stays unread is a gap with a reason."""

import pytest

from streamops.model.lag import LagBasis
from streamops.model.streams import Snapshot
from streamops.monitor.collect import Collector
from streamops.monitor.watch import Watch
from streamops.resources.acl import AclRole, acl_rules
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth
from tests.support.servers import RunningServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.ladder import NO_SCRIPTS, STREAMS, add_two_streams_three_groups, essence, is_old

pytestmark = pytest.mark.border_servers("replies and scripts differ by version")

WHOLE = {
    "everything": (Depth.READ_ONLY_SCRIPT, ("~*", "+@all")),
    "no read-only scripts": (Depth.SCRIPT, ("~*", "+@all", "-eval_ro", "-evalsha_ro")),
    "no scripts": (Depth.TRANSACTION, ("~*", "+@all", *NO_SCRIPTS)),
    "no scripts, no MULTI": (Depth.INFO, ("~*", "+@all", *NO_SCRIPTS, "-multi")),
    "no writing": (Depth.READ_ONLY_SCRIPT, ("%R~*", "+@all")),
    "no writing, no read-only scripts": (Depth.TRANSACTION, ("%R~*", "+@all", "-eval_ro", "-evalsha_ro")),
    "no TIME": (Depth.READ_ONLY_SCRIPT, ("~*", "+@all", "-time")),
}


async def collect(options: ConnectionOptions) -> tuple[Snapshot, Depth]:
    server = await Server.connect(options)
    try:
        collector = Collector(server, Watch())
        for _ in range(2):
            snapshot = await collector.collect(STREAMS, discovered=2, complete=True)
        return snapshot, collector._reader.depth
    finally:
        await server.close()


@pytest.mark.parametrize("case", WHOLE)
async def test_reader_with_fewer_permissions_loses_nothing(
    server: RunningServer, as_user: SetUser, case: str
) -> None:
    depth, rules = WHOLE[case]
    if is_old(server):
        rules = tuple(rule.replace("%R", "") for rule in rules if "_ro" not in rule)
        # Nobody can be denied what is not there.
        depth = Depth.SCRIPT if depth <= Depth.SCRIPT or "read-only" in case else depth
    add_two_streams_three_groups(server)
    whole, _ = await collect(server.options)
    assert whole.gaps == ()
    assert [group.lag.entries for group in whole.streams[0].groups] == [3, 6, 0]
    seen, reached = await collect(as_user(*rules))
    assert seen.gaps == ()
    assert essence(seen) == essence(whole)
    assert reached is depth


async def test_rules_that_we_print_for_observers(server: RunningServer, as_user: SetUser) -> None:
    rules = acl_rules(AclRole.OBSERVER)
    add_two_streams_three_groups(server)
    whole, _ = await collect(server.options)
    seen, reached = await collect(as_user(*(rules.rules_6_2 if is_old(server) else rules.rules).split()))
    assert seen.gaps == ()
    assert essence(seen) == essence(whole)
    assert reached is (Depth.SCRIPT if is_old(server) else Depth.READ_ONLY_SCRIPT)


async def test_a_key_that_is_denied_is_a_gap(server: RunningServer, as_user: SetUser) -> None:
    add_two_streams_three_groups(server)
    whole, _ = await collect(server.options)
    for rules in ((), NO_SCRIPTS, (*NO_SCRIPTS, "-multi")):
        known = [rule for rule in rules if not (is_old(server) and "_ro" in rule)]
        seen, _ = await collect(as_user("~orders", "+@all", *known))
        assert essence(seen) == essence(whole)[:1]
        assert [(gap.stream, gap.reason) for gap in seen.gaps] == [("payments", "no permission for this key")]


async def test_a_user_without_xinfo_stream_is_told_no_first_and_last_entry(
    server: RunningServer, as_user: SetUser
) -> None:
    if is_old(server):
        pytest.skip("no subcommand can be denied here")
    add_two_streams_three_groups(server)
    for rules, depth in (((), Depth.READ_ONLY_SCRIPT), (NO_SCRIPTS, Depth.GROUPS)):
        seen, reached = await collect(as_user("~*", "+@all", "-xinfo|stream", *rules))
        assert reached is depth
        assert {(gap.stream, gap.part) for gap in seen.gaps} == {
            (stream, "first and last entry") for stream in STREAMS
        }
        assert {gap.reason for gap in seen.gaps} == {"no permission for XINFO STREAM"}
        for stream in seen.streams:
            assert stream.length == 6
            assert (stream.first_id, stream.last_id, stream.entry_bytes) == (None, None, None)
            assert [group.lag.entries for group in stream.groups] == [3, 6, 0]


async def test_a_user_without_xrange_is_told_lags_without_gaps(
    server: RunningServer, as_user: SetUser
) -> None:
    add_two_streams_three_groups(server)
    # Where the server's own count is of no use either, there is nothing left to go by.
    server.command("XDEL", "orders", server.command("XRANGE", "orders", "-", "+")[4][0])
    for rules in ((), NO_SCRIPTS):
        known = [rule for rule in rules if not (is_old(server) and "_ro" in rule)]
        seen, _ = await collect(as_user("~*", "+@all", "-xrange", *known))
        assert seen.gaps == ()
        amid, before, end = seen.streams[0].groups
        assert (before.lag.entries, end.lag.entries) == (5, 0)
        assert before.time_lag.age is not None
        assert (amid.lag.basis, amid.lag.lower, amid.lag.upper) == (LagBasis.UNKNOWN, 1, 4)
        assert amid.time_lag.age is None
        assert amid.time_lag.reason


async def test_a_user_without_xinfo_is_told_no_streams(server: RunningServer, as_user: SetUser) -> None:
    add_two_streams_three_groups(server)
    for rules in ((), NO_SCRIPTS):
        known = [rule for rule in rules if not (is_old(server) and "_ro" in rule)]
        seen, _ = await collect(as_user("~*", "+@all", "-xinfo", *known))
        assert seen.streams == ()
        assert {gap.stream for gap in seen.gaps} == set(STREAMS)
        assert {gap.reason for gap in seen.gaps} <= {
            "no permission for XINFO GROUPS",
            "no permission for XINFO",
        }


async def test_a_user_without_xpending_is_told_all_but_pending_entries(
    server: RunningServer, as_user: SetUser
) -> None:
    add_two_streams_three_groups(server)
    seen, _ = await collect(as_user("~*", "+@all", "-xpending"))
    assert {(gap.stream, gap.group, gap.part, gap.reason) for gap in seen.gaps} == {
        (stream, group, "pending entries", "no permission for XPENDING")
        for stream in STREAMS
        for group in ("amid", "end")
    }
    assert [group.pending for group in seen.streams[0].groups] == [3, 0, 6]
    assert all(group.oldest_pending is None and group.profile is None for group in seen.streams[0].groups)


async def test_a_user_without_xinfo_consumers_is_told_all_but_consumers(
    server: RunningServer, as_user: SetUser
) -> None:
    if is_old(server):
        pytest.skip("no subcommand can be denied here")
    add_two_streams_three_groups(server)
    seen, _ = await collect(as_user("~*", "+@all", "-xinfo|consumers"))
    assert {(gap.group, gap.part) for gap in seen.gaps} == {("amid", "consumers"), ("end", "consumers")}
    assert {gap.reason for gap in seen.gaps} == {"no permission for XINFO CONSUMERS"}
    assert [group.members for group in seen.streams[0].groups] == [None, (), None]


async def test_a_user_without_info_is_told_no_server_information(
    server: RunningServer, as_user: SetUser
) -> None:
    add_two_streams_three_groups(server)
    seen, _ = await collect(as_user("~*", "+@all", "-info"))
    assert [(gap.part, gap.reason) for gap in seen.gaps] == [("server information", "no permission for INFO")]
    assert seen.server.nodes == ()
    # Whose count it is, is not known: so it is not believed but counted.
    amid = seen.streams[0].groups[0]
    assert (amid.lag.entries, amid.lag.basis) == (3, LagBasis.EXACT)


async def test_a_user_without_a_clock_is_told_no_ages(server: RunningServer, as_user: SetUser) -> None:
    add_two_streams_three_groups(server)
    seen, _ = await collect(as_user("~*", "+@all", "-info", "-time"))
    assert [(gap.part, gap.reason) for gap in seen.gaps][1:] == [
        ("server clock", "no permission for TIME, so that ages are not known")
    ]
    amid, before, end = seen.streams[0].groups
    assert amid.oldest_pending is not None
    assert amid.oldest_pending_age is None
    for group in (amid, before):
        assert group.time_lag.age is None
        assert "clock" in group.time_lag.reason
    assert end.time_lag.age is not None


async def test_a_user_with_xlen_alone_is_told_gaps_for_every_stream(
    server: RunningServer, as_user: SetUser
) -> None:
    add_two_streams_three_groups(server)
    seen, _ = await collect(as_user("~*", "+xlen"))
    assert seen.streams == ()
    assert {gap.stream for gap in seen.gaps if gap.stream} == set(STREAMS)
