"""A server with everything on it that a board may show: the demo's cast, and a stream that has every trouble at once."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from streamops.service.processes import module_command, module_environment
from tests.support.servers import RunningServer
from tests.support.written_pools import UP, write_pool

STREAM: Final = "jobs"
GROUP: Final = "workers"
LETTERS: Final = "{jobs}:dlq"
DELAYED: Final = "{jobs}:delayed"
MOST: Final = 60_000
LEFT_OUT: Final = "scratch"
POOL: Final = "shop"
CAPPED: Final = "bakery"
"""A pool whose controller has learned all that there is to learn, which takes a real one long."""

NOWHERE: Final = "nowhere"
"""A context whose server is not there."""
BLIND: Final = "blind"
"""A context whose user may not read all the streams that it asks for: what is not read is counted."""

CONFIGURATION: Final = f"""
[contexts.here]
url = "URL"

[contexts.{NOWHERE}]
url = "unix:///nowhere/at/all"

[contexts.{BLIND}]
url = "URL"
username = "{BLIND}"
password_file = "password"
streams = ["audit:*", "emails:*"]

[health]
no_consumers_after = "2s"
stopped_after = "4s"
consumer_unseen = "5s"

[[retention]]
streams = ["{STREAM}"]
maxlen = {MOST}
"""

APP: Final = f"""
import asyncio
from streamops.runtime import Entry, Reject, RetryLater, Streamops

app = Streamops()

@app.handler("{STREAM}", group="{GROUP}", start="$", concurrency=4, retry=0.2, max_attempts=2)
async def work(entry: Entry) -> None:
    await asyncio.sleep(0.02)
    kind = int(entry.get("n") or b"0") % 20
    if kind == 1:
        raise Reject("unknown order")
    if kind == 2:
        raise ValueError("the till did not answer")
    if kind == 3:
        raise RetryLater(3600)
"""
"""Of every twenty entries one is refused, one fails and is given up at its second try, and one is put off."""

PREFILL: Final = """
for n = 1, ARGV[1] do redis.call('XADD', KEYS[1], '*', 'n', 0) end
"""
TICK: Final = 0.05
GOING: Final = 15
CATCHING_UP: Final = 40


class Cast:
    """What happens on the server, beat by beat, in a thread of its own."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self._client = server.connect()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._play)
        self._number = 0

    def prepare(self) -> None:
        """The stream with its past, and its groups: one that catches up, one half way, one that never reads."""
        client = self._client
        client.eval(PREFILL, 1, STREAM, str(MOST // 2))
        half = client.xinfo_stream(STREAM)["last-generated-id"]
        client.eval(PREFILL, 1, STREAM, str(MOST // 2))
        for group in ("catching-up", "loser", "rewound", "crashed"):
            client.xgroup_create(STREAM, group, "0")
        client.xgroup_create(STREAM, "unclear", half)
        client.xgroup_setid(STREAM, "rewound", "$")
        # Delivered to somebody who never comes back, and again, and again.
        client.xreadgroup("crashed", "gone", {STREAM: ">"}, count=7)
        for _ in range(3):
            client.xreadgroup("crashed", "gone", {STREAM: "0"}, count=7)
        client.xadd(LEFT_OUT, {"n": "1"})
        client.acl_setuser(
            BLIND, enabled=True, passwords=[f"+{BLIND}"], keys=["emails:*"], commands=["+@all"]
        )
        client.hset(f"streamops:pool:{POOL}", "mode", "running")
        now = datetime.fromtimestamp(client.time()[0], UTC)
        write_pool(self._server, CAPPED, {**UP, "at": now.isoformat()})

    def lose(self) -> None:
        """Trim what one group has not read, and set another one back."""
        self._client.xtrim(STREAM, maxlen=MOST - 1_000, approximate=False)
        self._client.xgroup_setid(STREAM, "rewound", "0")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._thread.join()

    def _play(self) -> None:
        # Twenty beats a second: entries come in, and one group reads more than that.
        while not self._stop.wait(TICK):
            for _ in range(GOING // 5):
                self._number += 1
                self._client.xadd(STREAM, {"n": str(self._number)})
            reply: Any = self._client.xreadgroup("catching-up", "quick", {STREAM: ">"}, count=CATCHING_UP)
            for rows in (reply or {}).values():
                # What it never acknowledges stays pending.
                done = [row[0] for row in rows[1:]]
                self._client.xack(STREAM, "catching-up", *done)


@contextmanager
def playing(server: RunningServer) -> Iterator[Cast]:
    """The cast at work, and the demo's beside it."""
    cast = Cast(server)
    cast.prepare()
    with _demo(server):
        cast.start()
        try:
            yield cast
        finally:
            cast.stop()


@contextmanager
def _demo(server: RunningServer) -> Iterator[None]:
    process = subprocess.Popen(
        module_command("streamops.demo.workload", "--url", server.unix_url),
        env=module_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
