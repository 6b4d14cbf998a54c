"""Commands that a page of the documents shows, run, and what they print held against what it shows."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

CONSOLE_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
EXIT_COMMENT = re.compile(r"# exit (\d+)$")


class Step(NamedTuple):
    """A command line, the exit code that its comment names, and what the page says it prints."""

    command: str
    code: int
    printed: list[str]


def steps(page: str) -> list[Step]:
    """The commands of a page, in order."""
    found: list[Step] = []
    for line in "".join(CONSOLE_BLOCK.findall(page)).splitlines():
        if line.startswith("$ "):
            code = EXIT_COMMENT.search(line)
            found.append(Step(line.removeprefix("$ "), int(code[1]) if code else 0, []))
        else:
            found[-1].printed.append(line)
    return found


def environment(home: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Variables of a shell in which streamops is installed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), **more}


def check(page: str, environ: Mapping[str, str]) -> None:
    """Run every command of a page in its home; each prints the lines below it, in their order, spaces aside.

    ``…`` stands for anything.
    """
    for step in steps(page):
        done = subprocess.run(
            ["/bin/sh", "-c", step.command],
            env=environ,
            cwd=environ["HOME"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        printed = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == step.code, f"{step.command}\n{printed}"
        rest = printed
        for line in step.printed:
            found = re.search(".*?".join(re.escape(part) for part in _parts(line)), rest)
            assert found, f"{step.command}\n{line}\n{printed}"
            rest = rest[found.end() :]


def _parts(line: str) -> Iterator[str]:
    return (" ".join(part.split()) for part in line.split("…"))
