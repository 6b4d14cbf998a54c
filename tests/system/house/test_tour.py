"""The tour runs, command by command, against the demo's workload."""

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from docs.reference import (
    COMMANDS,
    COMMANDS_FILE,
    METRICS_FILE,
    NUMBERS_FILE,
    SETTINGS_FILE,
    render_commands,
    render_metrics,
    render_numbers,
    render_settings,
)
from streamops.demo.running import running_demo

TOUR_FILE = COMMANDS_FILE.with_name("tour.md")
CONSOLE_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
EXIT_COMMENT = re.compile(r"#.*\bexit (\d+)")


class Line(NamedTuple):
    """A command line of the tour, and the exit code that its comment names."""

    text: str
    code: int


def tour() -> list[list[Line]]:
    """The tour, block by block: the commands of one block build on each other."""
    return [
        [_line(text.removeprefix("$ ")) for text in block.splitlines()]
        for block in CONSOLE_BLOCK.findall(TOUR_FILE.read_text())
    ]


def _line(text: str) -> Line:
    code = EXIT_COMMENT.search(text)
    return Line(text, int(code[1]) if code else 0)


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


@pytest.mark.parametrize("block", tour(), ids=lambda block: block[0].text[:60])
def test_a_block_of_the_tour(block: list[Line], demo_url: str, tmp_path: Path) -> None:
    """Each line runs as it stands, exits as it says, says something, and complains of nothing."""
    environ = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "STREAMOPS_URL": demo_url,
    }
    for line in block:
        done = subprocess.run(
            ["/bin/sh", "-c", line.text],
            env=environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert done.returncode == line.code, f"{line.text}\n{done.stderr}"
        assert done.stdout.strip() or done.stderr.strip(), line.text
        assert line.code or "error:" not in done.stderr, line.text
        assert "Traceback" not in done.stderr


def test_written_documents_are_current() -> None:
    """`make docs` has nothing to do."""
    assert {path: path.read_text() for path in (COMMANDS_FILE, *COMMANDS.glob("*.md"))} == render_commands()
    assert METRICS_FILE.read_text() == render_metrics()
    assert SETTINGS_FILE.read_text() == render_settings()
    assert NUMBERS_FILE.read_text() == render_numbers(NUMBERS_FILE.read_text())
