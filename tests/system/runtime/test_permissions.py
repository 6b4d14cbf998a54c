"""What ``doctor --acl runtime`` prints is enough for a worker that does everything; with less it does not begin."""

import os
import subprocess
import sys
from pathlib import Path

from streamops.errors import ExitCode
from tests.support.runtime.everything import STREAM
from tests.support.runtime.permissions import PASSWORD, USER, Users
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer

APP = """
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("orders", group="g", start="0")
def handle(entry: Entry) -> None:
    raise SystemExit("consumed")
"""


def test_run_says_so_in_one_line_and_ends(server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(APP)
    server.command("XADD", STREAM, "*", "n", "1")
    Users(server).without("xack")
    url = server.url.replace("redis://", f"redis://{USER}:{PASSWORD.reveal()}@")
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "streamops", "--url", url, "run", "shop:app", "--workers", "2"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == ExitCode.REFUSED
    assert ran.stdout == ""
    told = [line for line in ran.stderr.splitlines() if "may not do" in line]
    assert len(told) == 1
    assert "user 'shop' may not do what a worker has to: no permission for XACK" in told[0]
    assert "doctor --acl runtime" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert keys(server) == {STREAM}
    server.command("ACL", "DELUSER", USER)
