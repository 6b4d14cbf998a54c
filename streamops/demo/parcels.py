"""``python -m streamops.demo.parcels``: parcels that streamops's own workers deliver, in a pool that follows the work.

``parcels:outgoing``, 5 to 55 entries a second and back every two minutes:
    ``couriers`` delivers 20 a second with each worker of the pool ``couriers``, of which a controller keeps one to three. One parcel
    in fifty finds nobody at home and is tried again after 20 seconds; three are delivered in ten minutes, an hour, a day.
``reminders:outgoing``:
    Nobody promotes its delayed messages: one is overdue.

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
"""One parcel in so many finds nobody at home at first."""
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
        print(READY, flush=True)  # noqa: T201  # the line that whoever started this waits for
        number = 0
        while True:
            number += 1
            await publisher.publish(STREAM, Parcel(number, f"Poststr. {number % 97}"))
            swell = (1 - math.cos(2 * math.pi * (loop.time() - began) / PERIOD)) / 2
            await asyncio.sleep(1 / (SLOWEST + (FASTEST - SLOWEST) * swell))


async def _start(*words: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *module_command("streamops", *words),
        env=module_environment(),
        # Where `streamops run` looks for the modules of an application: not in whatever folder the demo was started in.
        cwd=os.sep,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


async def _run() -> None:
    sending = asyncio.ensure_future(send())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, sending.cancel)
    children = [
        await _start(
            "run", "streamops.demo.parcels:app", "--pool", POOL, "--workers", "auto", "--beat", "1s"
        ),
        await _start(
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
    asyncio.run(_run())
