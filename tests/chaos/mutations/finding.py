"""Where the words of a guard stand, and its tests; or why they do not."""

import re
from pathlib import Path

from tests.chaos.mutations.guard import Guard


class Stale(Exception):
    """A guard is not what its entry in the list says: the code has moved on."""


def mutated_source(root: Path, guard: Guard) -> str:
    """The source of a guard's file without the guard.

    Args:
        root: The checkout.
        guard: The guard.

    Raises:
        Stale: Its text does not stand there exactly once, or nothing would change.
    """
    path = root / guard.file
    if not path.is_file():
        raise Stale(f"{guard.name}: there is no file {guard.file}")
    source = path.read_text()
    if (count := source.count(guard.text)) != 1:
        raise Stale(f"{guard.name}: its text stands {count} times in {guard.file}, not once")
    if guard.text == guard.mutated:
        raise Stale(f"{guard.name}: its mutation changes nothing")
    return source.replace(guard.text, guard.mutated)


def named_tests(root: Path, guard: Guard) -> list[str]:
    """The tests of a guard as pytest takes them.

    Args:
        root: The checkout.
        guard: The guard.

    Raises:
        Stale: One of them is not there, or there are several of that name.
    """
    if not guard.tests:
        raise Stale(f"{guard.name}: it names no test")
    return [_test_id(root, guard, test) for test in guard.tests]


def _test_id(root: Path, guard: Guard, test: str) -> str:
    room, _, function = test.partition("::")
    place = root / "tests" / room
    files = sorted(place.rglob("test_*.py")) if place.is_dir() else [place.with_suffix(".py")]
    pattern = re.compile(rf"^(?:async )?def {re.escape(function)}\(", re.MULTILINE)
    found = [path for path in files if path.is_file() and pattern.search(path.read_text())]
    if len(found) != 1:
        raise Stale(f"{guard.name}: there are {len(found)} tests {test}, not one")
    return f"{found[0].relative_to(root)}::{function}"
