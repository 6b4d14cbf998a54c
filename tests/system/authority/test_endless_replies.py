"""A server whose reply never ends is told of, and takes no more memory than the bound of a reply."""

import subprocess
import sys
from typing import Final

import pytest

from streamops.wire.redis_internals import MOST_REPLY, MOST_VALUE
from tests.support.project import PROJECT
from tests.support.servers import RunningServer
from tests.support.wire.lying import replying_to_all

CHILD: Final = """
import sys
if sys.argv[1] == "slow":
    sys.modules["hiredis"] = None
from streamops.main.program import run
from streamops.wire import redis_internals
redis_internals.MOST_VALUE, redis_internals.MOST_REPLY = 16 << 20, 32 << 20
code = run(sys.argv[2:])
# What getrusage tells begins with what the process was that started this one.
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
raise SystemExit(code)
"""
MEMORY: Final = 300 << 20
"""A command without a server takes 45 MiB; a reply of empty errors, whose objects are the largest, six times the bound."""

SOME: Final = bytes(1 << 16)
ENDLESS: Final = {
    "value": (b"$2000000000\r\n", SOME, "value that takes more than 16 MiB"),
    "numbers": (b"*2000000\r\n", b":1\r\n" * 10_000, "reply that takes more than 32 MiB"),
    "lists": (b"*2000000\r\n", b"*0\r\n" * 10_000, "reply that takes more than 32 MiB"),
    "errors": (b"*2000000\r\n", b"-\r\n" * 10_000, "reply that takes more than 32 MiB"),
    "values": (b"*2000000\r\n", b"$65536\r\n" + SOME + b"\r\n", "reply that takes more than 32 MiB"),
    "nested": (b"*2\r\n" * 3 + b"*2000000\r\n", b":1\r\n" * 10_000, "reply that takes more than"),
    "no room": (b"*4294967295\r\n", b":1\r\n" * 10_000, "reply that takes more than"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="nothing else tells the most memory that a process had")
@pytest.mark.parametrize("parser", ["fast", "slow"])
@pytest.mark.parametrize(("begin", "go_on", "told"), ENDLESS.values(), ids=ENDLESS)
def test_a_reply_that_never_ends_is_refused_at_its_bound(
    parser: str, begin: bytes, go_on: bytes, told: str
) -> None:
    # The first reply is that to the greeting.
    with replying_to_all(b"+OK\r\n", begin, endless=go_on) as port:
        words = (parser, "status", "--url", f"redis://127.0.0.1:{port}/0")
        child = subprocess.run(
            (sys.executable, "-c", CHILD, *words),
            cwd=PROJECT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert child.returncode == 1, child.stderr
    assert told in child.stderr
    assert "Traceback" not in child.stderr
    assert int(child.stdout) << 10 < MEMORY


def test_a_reply_that_never_ends_is_refused_while_greeting_too() -> None:
    with replying_to_all(b"*2000000\r\n", endless=b"*0\r\n" * 10_000) as port:
        words = ("fast", "status", "--timeout", "30", "--url", f"redis://127.0.0.1:{port}/0")
        child = subprocess.run(
            (sys.executable, "-c", CHILD, *words),
            cwd=PROJECT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (child.returncode, "takes more than 32 MiB" in child.stderr) == (1, True)


def test_the_bounds_are_what_servers_take_themselves(server: RunningServer) -> None:
    names = ("proto-max-bulk-len", "client-query-buffer-limit")
    found = [int(server.command("CONFIG", "GET", name)[1]) for name in names]
    assert found == [MOST_VALUE, MOST_REPLY]
