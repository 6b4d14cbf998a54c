"""Collecting against the floor: the same commands on a bare socket, replies unparsed.

    python -m tests.benchmarks.bench_collect

Prints one line a server version: medians of both in one run, interleaved, and their ratio. Then what a
stream of 5 MB entries costs beside one of 100-byte entries, in time and in bytes received.
"""

import asyncio
import socket
import statistics
import time
from collections.abc import Sequence

from redis.connection import Connection as Packer

from streamops.monitor.collect import Collector
from streamops.monitor.watch import Watch
from streamops.wire.node import Command, Decoder, Reply
from streamops.wire.server import Server
from tests.benchmarks.output import say
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

STREAMS, GROUPS, CONSUMERS = 1_000, ("g1", "g2"), ("c1", "c2", "c3")
ROUNDS = 9
MARK = b"streamops-end-of-batch"


def add_thousand_streams(running: RunningServer) -> None:
    """1,000 streams of ten 200-byte entries, two groups each, three consumers each, two pending a consumer."""
    pipeline = running.client.pipeline(transaction=False)
    for number in range(STREAMS):
        name = f"stream:{number}"
        for _ in range(10):
            pipeline.xadd(name, {"payload": "x" * 200})
        for group in GROUPS:
            pipeline.xgroup_create(name, group, "0")
            for consumer in CONSUMERS:
                pipeline.xreadgroup(group, consumer, {name: ">"}, count=2)
    pipeline.execute()


async def record(server: Server, collector: Collector, names: Sequence[str]) -> list[list[Command]]:
    """The batches that one collection sends."""
    batches: list[list[Command]] = []
    node = server.nodes[0]
    send = node.batch

    async def noted(commands: Sequence[Command], decoders: Sequence[Decoder | None] = ()) -> list[Reply]:
        batches.append(list(commands))
        return await send(commands, decoders)

    setattr(node, "batch", noted)  # noqa: B010  # mypy knows that methods are not for assigning
    await collector.collect(names, discovered=len(names), complete=True)
    setattr(node, "batch", send)  # noqa: B010  # the same
    return [batch for batch in batches if batch]


def pack(batch: Sequence[Command]) -> bytes:
    """A batch as it goes over the wire, and a mark at its end."""
    packer = Packer()  # type: ignore[no-untyped-call]  # redis-py has no types here
    packed: list[bytes] = packer.pack_commands([*batch, ("ECHO", MARK)])  # type: ignore[no-untyped-call]  # nor here
    return b"".join(packed)


def bare(running: RunningServer, batches: Sequence[bytes]) -> float:
    """Seconds for the same bytes on a bare socket, replies read and thrown away."""
    with socket.socket(socket.AF_UNIX) as plain:
        plain.connect(str(running.socket_path))
        started = time.perf_counter()
        for batch in batches:
            plain.sendall(batch)
            tail = b""
            while not tail.endswith(MARK + b"\r\n"):
                tail = tail[-64:] + plain.recv(1 << 20)
        return time.perf_counter() - started


async def compare(running: RunningServer) -> None:
    """One line: ours, the floor, the ratio."""
    add_thousand_streams(running)
    server = await Server.connect(running.options)
    collector = Collector(server, Watch())
    names = [f"stream:{number}" for number in range(STREAMS)]
    await collector.collect(names, discovered=STREAMS, complete=True)
    ours: list[float] = []
    floor: list[float] = []
    for _ in range(ROUNDS):
        batches = await record(server, collector, names)
        raw = [pack(batch) for batch in batches]
        floor.append(await asyncio.to_thread(bare, running, raw))
        started = time.perf_counter()
        snapshot = await collector.collect(names, discovered=STREAMS, complete=True)
        ours.append(time.perf_counter() - started)
    mine, least = statistics.median(ours), statistics.median(floor)
    say(
        f"{running.label:12} {STREAMS} streams, {snapshot.commands} commands: {mine * 1e3:6.1f} ms,"
        f" bare socket {least * 1e3:6.1f} ms, ratio {mine / least:.2f}"
    )
    await server.close()


async def weigh(running: RunningServer) -> None:
    """What entry size does to one collection of ten streams."""
    for size in (100, 64 << 10, 5 << 20):
        running.flush()
        for number in range(10):
            for _ in range(3):
                running.client.xadd(f"s{number}", {"payload": b"x" * size})
            running.client.xgroup_create(f"s{number}", "g", "0")
            running.client.xreadgroup("g", "c", {f"s{number}": ">"}, count=1)
        server = await Server.connect(running.options)
        collector = Collector(server, Watch())
        names = [f"s{number}" for number in range(10)]
        await collector.collect(names, discovered=10, complete=True)
        before = running.client.info("stats")["total_net_output_bytes"]
        times = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            await collector.collect(names, discovered=10, complete=True)
            times.append(time.perf_counter() - started)
        sent = running.client.info("stats")["total_net_output_bytes"] - before
        say(
            f"{running.label:12} 10 streams of {size:9,}-byte entries: {statistics.median(times) * 1e3:6.2f} ms,"
            f" {sent / ROUNDS / 1024:7.1f} KiB received a collection"
        )
        await server.close()


def main() -> None:
    """Run on every server found."""
    for program in find_programs():
        with RunningServer(program) as running:
            asyncio.run(compare(running))
            asyncio.run(weigh(running))


if __name__ == "__main__":
    main()
