"""Two primaries gave one ID to two entries, and the new one's was delivered into a reply that never came."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.runtime import Delays, Entry, Streamops
from tests.support.deployments import StartSentinel
from tests.support.runtime.former_primary import SAME, add_named, owners, replace_primary, two_primaries
from tests.support.runtime.worker import only_idle_ms
from tests.support.runtime.working import until, working
from tests.support.servers import StartServer
from tests.support.wire.sentinel import behind

LONG_AGO = 3_600_000


@pytest.mark.parametrize("ending", ["acknowledged", "tried again", "tried again here", "given up"])
async def test_entry_of_a_new_primary_delivered_unheard_outlives_one_of_the_former_with_its_id(
    start_server: StartServer, start_sentinel: StartSentinel, ending: str
) -> None:
    former, primary = two_primaries(start_server)
    sentinel, begun, may_end = start_sentinel(former), list[str](), asyncio.Event()
    app = Streamops(replace(behind(sentinel.port), timeout=timedelta(seconds=30)))

    @app.handler(
        "s",
        group="g",
        lease=1.5,
        retry=Delays((0.0,)),
        in_place=ending.endswith("here"),
        max_attempts=1 if ending == "given up" else 5,
    )
    async def handle(entry: Entry) -> None:
        name = (entry.get("name") or b"").decode()
        begun.append(name)
        if name == "former":
            await may_end.wait()
            if ending != "acknowledged":
                raise ValueError(name)

    async with working(app) as worker:
        await until(lambda: begun == ["former"])
        add_named(primary, SAME, "new")
        primary.command("XREADGROUP", "GROUP", "g", worker.id, "STREAMS", "s", ">")
        primary.command("XCLAIM", "s", "g", worker.id, 0, SAME, "IDLE", LONG_AGO, "JUSTID")
        replace_primary(sentinel, primary)
        # Its ID is in hand, so its lease is renewed: nothing but its fields tells that it is not what is in hand.
        await until(lambda: only_idle_ms(primary) < LONG_AGO)
        may_end.set()
        await until(lambda: "new" in begun and owners(primary) == [])
    assert begun == ["former", "new"]
    assert primary.command("EXISTS", "{s}:dlq", "{s}:delayed") == 0
