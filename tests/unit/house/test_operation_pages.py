"""Each page on an operation says when, what is checked, what can go wrong and what is promised, in blocks that a test runs."""

import re
from pathlib import Path
from typing import Final

import pytest

from docs.reference import ROOT_DIRECTORY
from streamops.operations.registry import OPERATIONS

FOLDER: Final = ROOT_DIRECTORY / "docs" / "operations"
PAGES: Final = sorted(FOLDER.glob("*.md"))
FENCE: Final = re.compile(r"^```(\w+)$", re.MULTILINE)
UNDOABLE: Final = re.compile(r"^## What can be undone\n\n.*\n.*\n((?:\|.*\n)+)", re.MULTILINE)
PARTS: Final = ("When", "What it checks", "What can go wrong", "What it promises")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_of_an_operation_has_every_part(page: Path) -> None:
    text = page.read_text()
    assert [part for part in PARTS if f"## {part}\n" not in text and f"**{part}.**" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_of_an_operation_has_no_block_that_is_not_run(page: Path) -> None:
    assert {*FENCE.findall(page.read_text())} == {"console"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_of_an_operation_shows_a_plan_and_an_outcome(page: Path) -> None:
    lines = page.read_text().splitlines()
    assert any(line.startswith("plan  ") for line in lines)
    assert any(line.startswith("outcome  ") for line in lines)


def test_page_on_undo_names_the_operations_that_can_be_undone() -> None:
    rows = UNDOABLE.search((FOLDER / "undo.md").read_text())
    assert rows is not None
    named = re.findall(r"^\| `([^`]+)`", rows[1], re.MULTILINE)
    assert sorted(named) == sorted(
        one.name.replace(".", " ") for one in OPERATIONS.values() if one.undo is not None
    )
