"""As process 1, the supervisor buries what others orphaned, and leaves its own to those who wait for them."""

import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36
# Starts processes and ends before them: they become the reaper's.
PARENT = "import subprocess; [print(subprocess.Popen(['sleep', '0.1']).pid, flush=True) for _ in range(5)]"
REAPER = f"""
import ctypes, os, subprocess, sys, time
from pathlib import Path
from streamops.runtime.supervisor.supervisor import reap_orphans

def state(pid):
    return Path(f"/proc/{{pid}}/stat").read_text().rpartition(") ")[2][0]

assert ctypes.CDLL(None).prctl({PR_SET_CHILD_SUBREAPER}, 1) == 0
reap_orphans(set())
told = subprocess.run([sys.executable, "-c", {PARENT!r}], capture_output=True, check=True).stdout
orphans = [int(line) for line in told.split()]
own = subprocess.Popen(["true"])
assert len(orphans) == 5
while any(state(pid) != "Z" for pid in [*orphans, own.pid]):
    time.sleep(0.01)
reap_orphans({{own.pid}})
assert not any(Path(f"/proc/{{pid}}").exists() for pid in orphans)
assert own.wait() == 0
reap_orphans(set())
"""


def test_orphans_are_buried_and_ones_own_are_not() -> None:
    subprocess.run([sys.executable, "-c", REAPER], check=True, timeout=60)
