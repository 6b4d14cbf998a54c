"""Names of the product: the glossary's words, and one class for one name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3] / "streamops"
RETIRED: Final = {
    "assent": "confirmation",
    "burden": "load",
    "buried": "dead-lettered",
    "bury": "dead-letter",
    "crew": "workers, registry",
    "crowd": "workers",
    "deed": "running operation",
    "doing": "running operations",
    "duty": "register, unregister",
    "heart": "heartbeat",
    "hearts": "heartbeats",
    "heavy": "large",
    "heed": "invalidate, check",
    "intake": "ingest",
    "letter": "dead letter",
    "letters": "dead letters",
    "mailbox": "topic queue",
    "noticing": "monitor",
    "permits": "semaphore",
    "pulse": "overview",
    "pump": "promote",
    "roster": "registry",
    "staff": "workers",
    "standing": "recurring",
    "stranger": "mismatch",
    "subject": "selection",
    "succession": "primary tracker",
    "takings": "claimed page",
    "tally": "counts",
    "wish": "state",
}
"""A word of former times and its standard one (ARCHITECTURE.md, Glossary)."""
KEPT: Final = {"LETTERS", "action_letters_of"}
"""An action's ID, which people's configurations name."""


def names(file: Path) -> Iterator[str]:
    """The names of a module, its classes, functions and constants."""
    yield file.stem
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.isupper():
            yield node.id


def words(name: str) -> list[str]:
    """``_read_HTTPPage`` is read, http, page; a dead letter is one word."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return "_".join(parts).lower().replace("dead_letter", "deadletter").split("_")


@pytest.fixture(scope="module")
def files() -> list[Path]:
    found = sorted(ROOT.rglob("*.py"))
    assert len(found) > 100
    return found


def test_no_module_class_function_or_constant_has_a_retired_word(files: list[Path]) -> None:
    retired = {
        f"{file.relative_to(ROOT)}: {name}: say {RETIRED[word]}"
        for file in files
        for name in names(file)
        if name not in KEPT
        for word in words(name)
        if word in RETIRED
    }
    assert sorted(retired) == []


def test_no_two_classes_of_the_product_have_one_name(files: list[Path]) -> None:
    places: dict[str, list[str]] = {}
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(file.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
