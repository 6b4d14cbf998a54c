"""The README's tour runs, command by command, against the demo's workload."""

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.reference import COMMANDS_FILE, README_FILE, render_commands, render_readme
from streamops.demo.running import running_demo

CONSOLE_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
EXIT_COMMENT = re.compile(r"#.*\bexit (\d+)")


def tour() -> list[tuple[str, int]]:
    """Every command line of the tour, and the exit code that its comment names."""
    lines = [
        line.removeprefix("$ ")
        for block in CONSOLE_BLOCK.findall(README_FILE.read_text())
        for line in block.splitlines()
    ]
    codes = [EXIT_COMMENT.search(line) for line in lines]
    return [(line, int(code[1]) if code else 0) for line, code in zip(lines, codes, strict=True)]


@pytest.fixture(scope="module")
def demo_url() -> Iterator[str]:
    """The demo, running in a thread of its own for as long as the tour takes."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    demo = running_demo()
    try:
        options = asyncio.run_coroutine_threadsafe(demo.__aenter__(), loop).result(60)
        yield options.label
        asyncio.run_coroutine_threadsafe(demo.__aexit__(None, None, None), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_the_tour_has_commands() -> None:
    assert len(tour()) >= 15


@pytest.mark.parametrize(("line", "code"), tour(), ids=lambda value: str(value).split("#")[0].strip()[:60])
def test_a_command_of_the_tour(line: str, code: int, demo_url: str, tmp_path: Path) -> None:
    """It runs as it stands, exits as it says, prints something, and complains of nothing."""
    environ = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "STREAMOPS_URL": demo_url,
    }
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert done.stdout.strip()
    assert "error:" not in done.stderr
    assert "Traceback" not in done.stderr


def test_written_documents_are_current() -> None:
    """`make docs` has nothing to do."""
    assert COMMANDS_FILE.read_text() == render_commands()
    assert README_FILE.read_text() == render_readme(README_FILE.read_text())
