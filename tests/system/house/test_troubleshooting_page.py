"""The commands of the page on troubleshooting print what it shows, on a server in such trouble."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from docs.reference import ROOT_DIRECTORY
from tests.support.servers import RunningServer

PAGE = (ROOT_DIRECTORY / "docs" / "troubleshooting.md").read_text()
CONSOLE_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
EXIT_COMMENT = re.compile(r"# exit (\d+)$")


class Step(NamedTuple):
    """A command line, the exit code that its comment names, and what the page says it prints."""

    command: str
    code: int
    printed: list[str]


def steps() -> list[Step]:
    found: list[Step] = []
    for line in "".join(CONSOLE_BLOCK.findall(PAGE)).splitlines():
        if line.startswith("$ "):
            code = EXIT_COMMENT.search(line)
            found.append(Step(line.removeprefix("$ "), int(code[1]) if code else 0, []))
        else:
            found[-1].printed.append(line)
    return found


@pytest.fixture
def environ(server: RunningServer, tmp_path: Path) -> dict[str, str]:
    """A server with a lag that is not known, a pending entry, and users who may too little."""
    server.commands(("XADD", "clicks", f"{n}-1", "n", n) for n in range(1, 30_001))
    server.commands(("XADD", "orders", f"{n}-1", "n", n) for n in range(1, 5))
    server.command("XGROUP", "CREATE", "clicks", "late", "15000-1")
    server.command("XDEL", "clicks", "20000-1")
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "b1", "COUNT", 1, "STREAMS", "orders", ">")
    reading = ("+ping", "+info", "+type", "+xinfo", "+xlen", "+xpending")
    server.command("ACL", "SETUSER", "viewer", "on", ">pw", "~*", *reading, "+scan")
    server.command("ACL", "SETUSER", "noscan", "on", ">pw", "~*", *reading, "+time", "+xrange")
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "STREAMOPS_URL": server.unix_url,
        "VIEWER_URL": f"unix://viewer:pw@{server.socket_path}",
        "NO_SCAN_URL": f"unix://noscan:pw@{server.socket_path}",
    }


def test_each_command_of_the_page_prints_what_it_shows(environ: dict[str, str]) -> None:
    for step in steps():
        done = subprocess.run(
            ["/bin/sh", "-c", step.command],
            env=environ,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert done.returncode == step.code, f"{step.command}\n{done.stderr}"
        printed = " ".join((done.stdout + done.stderr).split())
        for line in step.printed:
            assert " ".join(line.split()) in printed, step.command
