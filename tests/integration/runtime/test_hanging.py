"""A worker whose main loop stands still for good: it lets its leases go."""

import time
from datetime import timedelta

from streamops.model.pools import WorkerHeartbeat, WorkerState
from streamops.runtime.groups import Groups
from streamops.runtime.heartbeat import Heartbeat
from streamops.wire.server import Server
from tests.support.runtime.consumer_streams import stream_of_ann, worker_context
from tests.support.runtime.worker import only_idle_ms
from tests.support.servers import RunningServer

PAYLOAD = WorkerHeartbeat(
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


async def test_whoever_stands_still_for_too_long_renews_nothing(server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    raw_id = server.command("XADD", "s", "*", "n", 1)
    server.command("XREADGROUP", "GROUP", "g", "ann", "STREAMS", "s", ">")
    server.command("XCLAIM", "s", "g", "ann", 0, raw_id, "IDLE", 3_600_000, "JUSTID")
    context = worker_context(server.options)
    stream = stream_of_ann(context)
    stream.receive([(raw_id, [b"n", b"1"])], float("-inf"))
    heartbeat = Heartbeat(context, timedelta(minutes=1), lambda _: PAYLOAD, [stream], Groups(context))
    connection = Server(server.options)
    try:
        heartbeat.pulse = time.monotonic() - 120
        await heartbeat._turn(connection)
        assert only_idle_ms(server) >= 3_600_000
        heartbeat.pulse = time.monotonic()
        await heartbeat._turn(connection)
        assert only_idle_ms(server) < 3_600_000
    finally:
        await connection.close()
