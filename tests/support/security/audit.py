"""Looks the pinned libraries up among known weaknesses: ``make audit``.

It asks pip-audit, and believes it only as far as it got: where the advisory service cannot be reached, or knows none of the
libraries (an index of one's own in between), it says in one line that nothing was audited, and that is no failure.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

QUIETLY: Final = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")
LONGEST: Final = 600
NAMED: Final = 5


class Weakness(Struct, frozen=True):
    """A known weakness of one version.

    Attributes:
        id: What it is known as.
        fix_versions: Versions without it.
    """

    id: str
    fix_versions: tuple[str, ...] = ()


class Library(Struct, frozen=True):
    """What was found out about one library.

    Attributes:
        name: The library.
        version: Its version; empty where it was not looked up.
        skip_reason: Why it was not looked up; empty where it was.
        vulns: Its weaknesses.
    """

    name: str
    version: str = ""
    skip_reason: str = ""
    vulns: tuple[Weakness, ...] = ()


class Findings(Struct, frozen=True):
    """What pip-audit found out."""

    dependencies: tuple[Library, ...]


class Verdict(Struct, frozen=True):
    """What is to be said of one file of pins.

    Attributes:
        lines: In words.
        weak: Whether a library has a known weakness.
    """

    lines: tuple[str, ...]
    weak: bool = False


def judge(lock: str, findings: Findings | None) -> Verdict:
    """What is to be said of a file.

    Args:
        lock: Its name.
        findings: What was found out; none where the service could not be asked.
    """
    if findings is None:
        return Verdict((f"{lock}: not audited: the advisory service cannot be reached",))
    unknown = [one.name for one in findings.dependencies if one.skip_reason]
    known = len(findings.dependencies) - len(unknown)
    if not known:
        return Verdict(
            (f"{lock}: not audited: the advisory service knows none of its {len(unknown)} libraries",)
        )
    weak = tuple(f"{lock}: {_weak(one)}" for one in findings.dependencies if one.vulns)
    rest = f"; not audited: {_named(unknown)}" if unknown else ""
    clean = f"{lock}: {known - len(weak)} of {known} libraries audited have no known weakness{rest}"
    return Verdict((*weak, clean), bool(weak))


def _weak(library: Library) -> str:
    told = "; ".join(
        f"{one.id}, {'mended in ' + ' and '.join(one.fix_versions) if one.fix_versions else 'not mended yet'}"
        for one in library.vulns
    )
    return f"{library.name} {library.version} has a known weakness: {told}"


def _named(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def ask(program: str, lock: Path) -> Findings | None:
    """Have pip-audit look a file up; none where it could not come to its end."""
    with tempfile.TemporaryDirectory() as directory:
        found = Path(directory) / "found.json"
        words = [program, *QUIETLY, "--requirement", str(lock), "--output", str(found)]
        try:
            subprocess.run(words, capture_output=True, check=False, timeout=LONGEST)
            # It ends with 1 where it found something, and where it could not look: what it wrote tells which.
            return msgspec.json.decode(found.read_bytes(), type=Findings)
        except (OSError, subprocess.TimeoutExpired, msgspec.DecodeError):
            return None


def main(program: str, locks: Sequence[str]) -> int:
    """Audit files of pins, a line or more each; 1 where a library has a known weakness."""
    verdicts = [judge(Path(lock).name, ask(program, Path(lock))) for lock in locks]
    for line in (line for verdict in verdicts for line in verdict.lines):
        sys.stdout.write(f"{line}\n")
    return int(any(verdict.weak for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
