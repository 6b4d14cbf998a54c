"""Running a guard's tests with it and without it, in a copy of the checkout."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from msgspec import Struct

from tests.chaos.mutations.finding import Stale, mutated_source, named_tests
from tests.chaos.mutations.guard import Guard
from tests.chaos.mutations.verdicts import SERVER, VERDICTS, Verdict, read_verdicts

COPIED: Final = ("streamops", "tests", "dashboards", "pyproject.toml", "README.md")
PLUGINS: Final = (
    "pytest_asyncio.plugin",
    "pytest_cov.plugin",
    "pytest_timeout",
    "no:cacheprovider",
    "tests.chaos.mutations.verdicts",
)
"""All that these tests need, and whose marks they have; to load the others takes longer than most tests."""
LONGEST_TEST: Final = 60
LONGEST_RUN: Final = 1_200
"""Seconds, of one test and of one run; a guard without which a test hangs is missed, too."""


class Fate(StrEnum):
    """What became of a mutation."""

    KILLED = "killed"
    SURVIVED = "SURVIVED"
    STALE = "STALE"
    BROKEN = "BROKEN"


class Tried(Struct, frozen=True):
    """One guard, tried.

    Attributes:
        guard: The guard.
        fate: What became of its mutation.
        seconds: How long its tests took without it.
        why: What is wrong, where something is.
    """

    guard: Guard
    fate: Fate
    seconds: float = 0.0
    why: str = ""


class Copy:
    """A copy of the checkout that may be changed.

    Args:
        checkout: The checkout, which stays as it is.
        root: Where the copy is to be; an empty directory.
    """

    def __init__(self, checkout: Path, root: Path) -> None:
        self.root = root
        for name in COPIED:
            if (checkout / name).is_dir():
                shutil.copytree(checkout / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(checkout / name, root / name)

    def write(self, file: str, source: str) -> None:
        """Write a file. What was compiled of it is forgotten: its age tells seconds alone."""
        path = self.root / file
        path.write_text(source)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()

    def run(self, tests: Sequence[str], server: str = "", *, stop: bool = True) -> list[Verdict]:
        """Run tests on what the copy holds; how they ended.

        Args:
            tests: Their IDs.
            server: The label of the server version to run on; the newest unless given.
            stop: Whether to stop at the first that fails.
        """
        told = self.root / "verdicts"
        told.unlink(missing_ok=True)
        options = [
            "-q",
            "--continue-on-collection-errors",
            *(part for name in PLUGINS for part in ("-p", name)),
            f"--timeout={LONGEST_TEST}",
        ]
        command = [sys.executable, "-m", "pytest", *options, *["-x"][: int(stop)], *tests]
        environment = {
            "PYTHONPATH": str(self.root),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            SERVER: server,
            VERDICTS: str(told),
        }
        with (self.root / "output").open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self.root,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            _wait_for(process)
        return read_verdicts(told)

    @property
    def output(self) -> str:
        """What the last run printed."""
        return (self.root / "output").read_text(errors="replace")


def try_guards(copy: Copy, guards: Sequence[Guard]) -> Iterator[Tried]:
    """Run the tests of all guards with them, where they must pass, and then those of each without it, where each must fail."""
    fresh = [guard for guard in guards if not _staleness(copy, guard)]
    sound = {server: _with_all(copy, fresh, server) for server in sorted({guard.server for guard in fresh})}
    for guard in guards:
        yield _tried(copy, guard, sound)


def _staleness(copy: Copy, guard: Guard) -> str:
    """Why a guard cannot be tried; empty where it can."""
    try:
        mutated_source(copy.root, guard)
        named_tests(copy.root, guard)
    except Stale as stale:
        return str(stale)
    return ""


def _with_all(copy: Copy, guards: Sequence[Guard], server: str) -> list[Verdict]:
    chosen = [named_tests(copy.root, guard) for guard in guards if guard.server == server]
    verdicts = copy.run(sorted({test for tests in chosen for test in tests}), server, stop=False)
    ran = {verdict.test for verdict in verdicts}
    # A file that cannot be loaded keeps all others from being run along with it.
    for tests in chosen:
        if not ran.issuperset(tests):
            verdicts += copy.run(tests, server, stop=False)
    return verdicts


def _tried(copy: Copy, guard: Guard, sound: Mapping[str, Sequence[Verdict]]) -> Tried:
    if stale := _staleness(copy, guard):
        return Tried(guard, Fate.STALE, why=stale)
    tests = named_tests(copy.root, guard)
    for test in tests:
        told = [one.failed for one in sound[guard.server] if one.test == test]
        if not told or any(told):
            return Tried(
                guard, Fate.BROKEN, why=f"with the guard: {test} {'fails' if told else 'does not run'}"
            )
    began = time.monotonic()
    verdicts = without(copy, guard, tests)
    seconds = time.monotonic() - began
    if alive := [test for test in tests if not any(one.test == test and one.failed for one in verdicts)]:
        return Tried(guard, Fate.SURVIVED, seconds, f"without the guard: {', '.join(alive)} did not fail")
    return Tried(guard, Fate.KILLED, seconds)


def without(copy: Copy, guard: Guard, tests: Sequence[str], *, stop: bool | None = None) -> list[Verdict]:
    """Run tests without a guard; how they ended.

    Args:
        copy: The copy, which is as it was afterwards.
        guard: The guard.
        tests: Their IDs.
        stop: Whether to stop at the first that fails; where there is only one unless given.
    """
    source, before = mutated_source(copy.root, guard), (copy.root / guard.file).read_text()
    copy.write(guard.file, source)
    try:
        return copy.run(tests, guard.server, stop=len(tests) == 1 if stop is None else stop)
    finally:
        copy.write(guard.file, before)


def _wait_for(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a run, but not for ever; whatever its tests have started goes with it."""
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(LONGEST_RUN)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
