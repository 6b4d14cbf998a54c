"""The page on autoscaling runs, as it stands there, on an application of its own."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from docs.reference import ROOT_DIRECTORY
from streamops.service.processes import module_environment
from tests.support.servers import RunningServer

CHAPTER = (ROOT_DIRECTORY / "docs" / "autoscaling.md").read_text()
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
PATIENCE = 30.0
SHOP = """
from streamops.runtime import Entry, Streamops

app = Streamops()


@app.handler("shop:orders", group="shipping")
async def ship(entry: Entry) -> None: ...
"""


def test_the_page_runs_as_it_stands(server: RunningServer, tmp_path: Path) -> None:
    """Workers that follow, a controller, and then every command of the chapter, in its order."""
    (tmp_path / "shop.py").write_text(SHOP)
    services, commands = (lines(block) for block in BLOCK.findall(CHAPTER))
    environ = module_environment() | {"STREAMOPS_URL": server.unix_url, "HOME": str(tmp_path)}
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    with ExitStack() as stack:
        for line in services:
            stack.enter_context(serving(line, environ, tmp_path))
        deadline = time.monotonic() + PATIENCE
        while "controller" not in run("streamops pools explain shop", environ, tmp_path).stdout:
            assert time.monotonic() < deadline
        for line in commands:
            done = run(line, environ, tmp_path)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            assert done.stdout.strip() or done.stderr.strip(), line
    assert server.command("HGET", "streamops:pool:shop", "desired") == b"3"


def lines(block: str) -> list[str]:
    return [line.partition("  #")[0].strip() for line in block.splitlines()]


def run(line: str, environ: dict[str, str], directory: Path) -> "subprocess.CompletedProcess[str]":
    words = ["/bin/sh", "-c", line]
    return subprocess.run(
        words, env=environ, cwd=directory, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@contextmanager
def serving(line: str, environ: dict[str, str], directory: Path) -> Iterator[None]:
    process = subprocess.Popen(["/bin/sh", "-c", f"exec {line}"], env=environ, cwd=directory)
    try:
        yield
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0
