"""A worker whose main loop stands still for good: it lets its leases go."""

import time
from datetime import timedelta

from streamops.model.workers import WorkerHeartbeat, WorkerState
from streamops.runtime.entry import Side
from streamops.runtime.heartbeat import Heartbeat, Watch
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.server import Server
from tests.support.runtime.worker import only_idle_ms
from tests.support.servers import RunningServer

PORTRAIT = WorkerHeartbeat(
    id="ann",
    host="here",
    pid=1,
    app="app",
    pool="",
    consumers=(),
    slots=1,
    busy=1,
    state=WorkerState.RUNNING,
    beat_ms=0,
)


def nothing(*_: object) -> None: ...


async def test_whoever_stands_still_for_too_long_renews_nothing(server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    raw_id = server.command("XADD", "s", "*", "n", 1)
    server.command("XREADGROUP", "GROUP", "g", "ann", "STREAMS", "s", ">")
    server.command("XCLAIM", "s", "g", "ann", 0, raw_id, "IDLE", 3_600_000, "JUSTID")
    side = Side(Subscription("s", "g", "ann"), retries=False, now_ms=lambda: 0.0)
    side.receive(raw_id, [b"n", b"1"], float("-inf"))
    beat = Heartbeat(
        server.options,
        every=timedelta(hours=1),
        hang=timedelta(minutes=1),
        payload_of=lambda _: PORTRAIT,
        holdings=lambda: [(side, timedelta(seconds=1))],
        watch=Watch(nothing, nothing, nothing, nothing),
    )
    connection = Server(server.options)
    try:
        beat.pulse = time.monotonic() - 120
        await beat._turn(connection)
        assert only_idle_ms(server) >= 3_600_000
        beat.pulse = time.monotonic()
        await beat._turn(connection)
        assert only_idle_ms(server) < 3_600_000
    finally:
        await connection.close()
