"""A replay whose process is killed goes on with its token: nothing is lost, nothing comes twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

from streamops.wire.writes.jobs import JOBS, job_key
from tests.chaos.histories.replays import Place
from tests.support.deployments import RunningCluster
from tests.support.monitor.dead_letters import STREAM, make_group, node_of
from tests.support.servers import RunningServer

LETTERS = 3_000
KILLS = 2
RATE = "10000/s"


def start(place: Place, *words: str) -> subprocess.Popen[bytes]:
    scheme = "redis+cluster" if isinstance(place, RunningCluster) else "redis"
    url = place.url.replace("redis", scheme, 1)
    return subprocess.Popen(
        [sys.executable, "-m", "streamops", *words, "--yes", "--url", url, "--quiet"],
        env=os.environ | {"STREAMOPS_CONFIG": os.devnull},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def kill_after(process: subprocess.Popen[bytes], place: Place, queue: str, seconds: float) -> None:
    """Kill it so long after the next letter has gone."""
    server = node_of(place, queue)
    before = server.command("XLEN", queue)
    while server.command("XLEN", queue) == before and process.poll() is None:
        time.sleep(0.001)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def token(place: Place) -> str:
    """The job's, whose lease has then run out."""
    (found,) = node_of(place, JOBS).command("ZRANGE", JOBS, 0, -1)
    job = found.decode()
    node_of(place, job_key(job)).command("HSET", job_key(job), "lease_ms", 1)
    return str(job)


def live(place: Place, queue: str) -> None:
    rng = random.Random(queue)
    make_group(node_of(place, STREAM))
    pipeline = node_of(place, queue).client.pipeline(transaction=False)
    for number in range(LETTERS):
        pipeline.xadd(queue, {"n": number, "_so_origin": STREAM, "_so_group": "billing"})
    pipeline.execute()
    kill_after(
        start(place, "replay", queue, "--foreign-origins", "--rate", RATE), place, queue, rng.uniform(0, 0.15)
    )
    for _ in range(KILLS - 1):
        kill_after(start(place, "jobs", "resume", token(place)), place, queue, rng.uniform(0, 0.1))
    assert 0 < node_of(place, queue).command("XLEN", queue) < LETTERS
    last = start(place, "replay", queue, "--resume", token(place), "--rate", "1000000/s")
    said, _ = last.communicate()
    assert last.returncode == 0, said
    found = node_of(place, STREAM).command("XRANGE", STREAM, "-", "+")
    numbers = Counter(int(fields[fields.index(b"n") + 1]) for _, fields in found)
    assert numbers == Counter(range(LETTERS))
    assert node_of(place, queue).command("XLEN", queue) == 0
    state = node_of(place, job_key(token(place))).command("HGET", job_key(token(place)), "state")
    assert state == b"done"


def test_letters_of_a_replay_that_is_killed_over_and_over_are_all_replayed(server: RunningServer) -> None:
    live(server, "{orders}:dlq")


def test_letters_of_a_replay_killed_between_slots_are_all_replayed(cluster: RunningCluster) -> None:
    live(cluster, "failed:dlq")
