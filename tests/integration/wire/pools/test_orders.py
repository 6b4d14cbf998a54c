"""What a pool is told, and under which conditions: the last guard of a controller that does not know that it is none."""

import pytest

from streamops.errors import StalePlan, TargetChanged
from streamops.model.pools import Order, PoolSize
from streamops.targets.local import LocalTarget
from streamops.wire.keys import pool_key
from streamops.wire.pools.records import order_workers
from streamops.wire.server import Server
from tests.support.servers import RunningServer

KEY = pool_key("p")
NEVER = 4_000_000_000_000
WHY = Order(workers=0, by="me", reason="900 waiting")


def desired(server: RunningServer) -> bytes | None:
    told: bytes | None = server.command("HGET", KEY, "desired")
    return told


async def test_a_number_is_told_to_who_was_told_what_is_known(
    server: RunningServer, connected: Server
) -> None:
    await order_workers(connected, "p", None, 3, WHY)
    assert (desired(server), server.command("HGET", KEY, "desired_by")) == (b"3", b"me")
    with pytest.raises(StalePlan):
        await order_workers(connected, "p", None, 4, WHY)
    with pytest.raises(StalePlan):
        await order_workers(connected, "p", Order(workers=2), 4, WHY)
    await order_workers(connected, "p", Order(workers=3), 4, WHY)
    assert desired(server) == b"4"


@pytest.mark.parametrize(
    ("lead", "told"),
    [
        pytest.param({"leader": "me", "term": 7, "leader_until": NEVER}, True, id="it leads"),
        pytest.param({"leader": "other", "term": 8, "leader_until": NEVER}, False, id="another leads"),
        pytest.param({"leader": "me", "term": 7, "leader_until": 1}, False, id="its lease is over"),
        pytest.param({"term": 7}, False, id="it has left"),
        pytest.param({"leader": "me", "term": 7, "leader_until": "soon"}, False, id="no time at all"),
    ],
)
async def test_under_a_lead_only_while_it_lasts(
    server: RunningServer, connected: Server, lead: dict[str, object], *, told: bool
) -> None:
    server.command("HSET", KEY, "desired", 3, *(str(part) for pair in lead.items() for part in pair))
    try:
        await order_workers(connected, "p", Order(workers=3), 9, WHY, term=7)
    except StalePlan:
        assert not told
    else:
        assert told
    assert desired(server) == (b"9" if told else b"3")


async def test_a_target_holds_on_to_the_lead_under_which_it_was_read(
    server: RunningServer, connected: Server
) -> None:
    """Whoever stands still between looking and asking asks for nothing: its number is right, its time is not."""
    target = LocalTarget(connected, "p", "me")
    server.command("HSET", KEY, "desired", 3, "leader", "me", "term", 7, "leader_until", NEVER)
    seen = await target.read()
    assert seen == PoolSize(ordered=3, ready=0, version="3/7")
    for lost in (("leader", "other", "term", "8"), ("term", "7", "leader_until", "1")):
        server.command("HSET", KEY, *lost)
        with pytest.raises(TargetChanged, match="its controller has changed"):
            await target.resize(9, seen, reason="", key="")
    assert desired(server) == b"3"


async def test_a_person_may_scale_whoever_led_and_does_no_more(
    server: RunningServer, connected: Server
) -> None:
    target = LocalTarget(connected, "p", "ada")
    server.command("HSET", KEY, "desired", 3, "leader", "gone", "term", 7, "leader_until", 1)
    await target.resize(5, await target.read(), reason="", key="")
    server.command("HSET", KEY, "leader_until", NEVER)
    await target.resize(6, await target.read(), reason="", key="")
    assert desired(server) == b"6"
