"""The list of guards is up to date: each stands in the code, and so do its tests; what is left without it is still code."""

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Final

from tests.chaos.mutations.finding import mutated_source, named_tests
from tests.chaos.mutations.guards import GUARDS, ROOMS
from tests.chaos.mutations.telling import page
from tests.servers import RunningServer

CHECKOUT: Final = Path(__file__).parents[3]
SCRIPTS: Final = CHECKOUT / "streamops/wire/scripts"
INCLUDE: Final = re.compile(r"^-- @include (\w+)$", re.MULTILINE)


def test_every_guard_stands_in_the_code_and_has_its_tests() -> None:
    for guard in GUARDS:
        assert mutated_source(CHECKOUT, guard)
        assert named_tests(CHECKOUT, guard)


def test_every_guard_has_a_name_of_its_own() -> None:
    assert [name for name, count in Counter(guard.name for guard in GUARDS).items() if count > 1] == []


def test_what_is_left_of_python_is_python() -> None:
    for guard in GUARDS:
        if guard.file.endswith(".py"):
            ast.parse(mutated_source(CHECKOUT, guard), guard.name)


def test_what_is_left_of_scripts_are_scripts(any_server: RunningServer) -> None:
    for guard in GUARDS:
        if guard.file.endswith(".lua"):
            any_server.command("SCRIPT", "LOAD", _whole(mutated_source(CHECKOUT, guard), set()))


def test_the_page_is_what_the_list_says() -> None:
    written = (CHECKOUT / "tests/chaos/GUARDS.md").read_text()
    assert written == page(ROOMS), "run `python -m tests.chaos.mutations --write`"


def _whole(source: str, seen: set[str]) -> str:
    """A script with all that it includes, each once, before what includes it."""
    included = []
    for name in INCLUDE.findall(source):
        if name not in seen:
            seen.add(name)
            included.append(_whole((SCRIPTS / f"{name}.lua").read_text(), seen))
    return "\n".join([*included, source])
