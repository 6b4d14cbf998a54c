"""``python -m streamops.demo.parcels``: parcels that streamops's own workers deliver, in a pool that follows the work.

``parcels:outgoing``, 5 to 55 entries a second and back every two minutes:
    ``couriers`` delivers 20 a second with each worker of the pool ``couriers``, of which a controller keeps one to three. One parcel
    in fifty finds nobody at home and is tried again after 20 seconds; three are delivered in ten minutes, an hour, a day.
``reminders:outgoing``:
    No worker promotes its delayed messages: one is overdue.
``topic:receipts``, one message for every tenth parcel:
    `streamops webhooks serve` posts it to this process, which refuses one in ten at first.
``parcels:returned``:
    A job replays them into ``parcels:outgoing``, one a second.

It ends on SIGTERM, and when the server goes away; its workers and its controller end with it. ``STREAMOPS_URL`` names the server.
"""

import asyncio
import contextlib
import math
import os
import signal
import subprocess
from asyncio.subprocess import Process
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct

from streamops.demo.workload import READY
from streamops.errors import StreamopsError
from streamops.runtime import Entry, RetryLater, Streamops
from streamops.service.processes import module_command, module_environment

STREAM: Final = "parcels:outgoing"
REMINDERS: Final = "reminders:outgoing"
POOL: Final = "couriers"
MOST_WORKERS: Final = 3
KEPT: Final = 5_000
SLOWEST, FASTEST, PERIOD = 5.0, 55.0, 120.0
EFFORT: Final = timedelta(milliseconds=50)
STOP_SECONDS: Final = 3.0
ABSENT: Final = 50
"""One parcel in so many is not delivered at first."""
RETURNED: Final = "parcels:returned"
RETURNS: Final = 600
TOPIC: Final = "receipts"
RECEIPT: Final = 10
"""One parcel in so many asks for a receipt, and one receipt in so many is refused."""
LATER: Final = (timedelta(minutes=10), timedelta(hours=1), timedelta(days=1))


class Parcel(Struct):
    """One parcel."""

    number: int
    street: str


app = Streamops()


@app.handler(STREAM, group=POOL, start="all", concurrency=1)
async def deliver(parcel: Parcel, entry: Entry) -> None:
    """Take a parcel to its street."""
    await asyncio.sleep(EFFORT.total_seconds())
    if parcel.number % ABSENT == 0 and entry.attempt == 1:
        raise RetryLater(20)


async def take_back() -> None:
    """Publish what the job replays."""
    async with app.publisher() as publisher:
        await publisher.publish_many(RETURNED, [Parcel(number, "Poststr. 1") for number in range(RETURNS)])


async def send() -> None:
    """Publish parcels at a rate that swells and ebbs, until the server goes away."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with app.publisher(maxlen=KEPT) as publisher:
        await publisher.publish(
            REMINDERS, {"invoice": "7-2201"}, delay=timedelta(seconds=1), id="reminder-7-2201"
        )
        for delay in LATER:
            await publisher.publish(STREAM, Parcel(0, "Poststr. 1"), delay=delay)
        await publisher.publish(STREAM, Parcel(0, "Poststr. 1"))
        print(READY, flush=True)  # noqa: T201  # the line that the parent waits for
        number = 0
        while True:
            number += 1
            await publisher.publish(STREAM, Parcel(number, f"Poststr. {number % 97}"))
            if number % RECEIPT == 0:
                await publisher.publish(f"topic:{TOPIC}", {"parcel": str(number)})
            swell = (1 - math.cos(2 * math.pi * (loop.time() - began) / PERIOD)) / 2
            await asyncio.sleep(1 / (SLOWEST + (FASTEST - SLOWEST) * swell))


async def take_receipts(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the webhook's calls on one connection: every tenth with 503."""
    calls = 0
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.lower().splitlines()
            length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            calls += 1
            status = b"503 Service Unavailable" if calls % RECEIPT == 0 else b"200 OK"
            writer.write(b"HTTP/1.1 %s\r\nContent-Length: 3\r\n\r\nok\n" % status)
            await writer.drain()
    writer.close()


async def _start(config: Path, *words: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *module_command("streamops", *words),
        env=module_environment()
        | {"STREAMOPS_CONFIG": str(config), "STREAMOPS_CONTEXT": "demo", "STREAMOPS_URL": ""},
        # Where `streamops run` looks for the modules of an application: not in whatever folder the demo was started in.
        cwd=os.sep,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


async def _run(config: Path) -> None:
    await take_back()
    # A group that comes once a replay is planned would get what the plan did not say: the replay would stop.
    start = partial(_start, config)
    await (await start("groups", "create", STREAM, POOL, "--at", "0", "--mkstream", "--yes")).wait()
    sending = asyncio.ensure_future(send())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, sending.cancel)
    receiver = await asyncio.start_server(take_receipts, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{receiver.sockets[0].getsockname()[1]}/{TOPIC}"
    children = [
        await start("webhooks", "create", TOPIC, url, "--retry", "20s", "--yes"),
        await start("webhooks", "serve", "--no-intake", "--grace", "2s"),
        await start(
            *("replay", RETURNED, "--to", STREAM, "--rate", "1/s", "--yes"),
            *("--reason", "parcels of a closed street"),
        ),
        await start("run", "streamops.demo.parcels:app", "--pool", POOL, "--workers", "auto", "--beat", "1s"),
        await start(
            *("autoscale", "run", POOL, "--stream", STREAM, "--group", POOL),
            *("--minimum", "1", "--maximum", str(MOST_WORKERS), "--every", "2s"),
        ),
    ]
    try:
        with contextlib.suppress(asyncio.CancelledError, StreamopsError):
            await sending
    finally:
        for child in children:
            _signal(child, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await asyncio.gather(*(child.wait() for child in children))
        for child in children:
            # With a server that is gone, handlers would be waited for until the grace is over.
            _signal(child, signal.SIGKILL)


def _signal(child: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    with TemporaryDirectory() as directory:
        own = Path(directory) / "config.toml"
        # Nothing that a webhook names is called on this machine unless its configuration says so.
        context = f'[contexts.demo]\nurl = "{os.environ["STREAMOPS_URL"]}"\nenvironment = "development"\n'
        own.write_text(f'{context}[callbacks]\nhosts = ["127.0.0.1"]\n')
        asyncio.run(_run(own))
