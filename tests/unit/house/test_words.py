"""Pages, boards, help and what programs say keep to the glossary's words (ARCHITECTURE.md, Glossary)."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
RETIRED: Final = re.compile(
    r"(?<!dead )(?<!dead-)\bletters?\b"
    r"|\b(?:buried|bury|(?<!-)intake|pulse|crew|roster|tally|mailbox|steering|stranger|fate|consent|deed|tending|time lag)s?\b"
    r"|\b(?:caught up in|reaches back|entry to done|for the time being|of its own making|none where)\b"
    r"|\b(?:whoever|whom|nobody|somebody|so many|told|tells? of|died of|meanwhile)\b",
    re.IGNORECASE,
)
PHRASES: Final = re.compile(
    r"\b(?:agreed? (?:to|with)|all the same|everybody|gave it up|given back|handed on|is to have|nobody|rests? on|somebody)\b"
    r"|\b(?:for so long|so many|take[ns]? back|tells(?: of)?|told|that there (?:are|were)|typed before|whatever waits)\b",
    re.IGNORECASE,
)
"""Constructions of no English that operators write; ``told`` and the like name variables, which are no sentences."""
SAID: Final = ("cli", "main", "model", "monitor", "operations", "resources", "tui", "autoscaling", "targets")
HISTORY: Final = {"ARCHITECTURE.md", "CHANGELOG.md"}
"""They name the retired words."""


def pages() -> Iterator[tuple[str, str]]:
    """Prose with its place: code stays out, but for help texts."""
    folders = ("docs", "dashboards", "grafana", "tests")
    files = [*ROOT.glob("*.md"), *(path for folder in folders for path in (ROOT / folder).rglob("*.md"))]
    for path in files:
        text = path.read_text()
        if "commands" not in path.parts:
            text = re.sub(
                r"^```.*?^```",
                lambda block: "\n" * block[0].count("\n"),
                text,
                flags=re.DOTALL | re.MULTILINE,
            )
        for number, line in enumerate(text.splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", re.sub(r"`[^`]*`|\]\([^)]*\)|\[\w+\]", "", line)


def boards() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "dashboards").glob("*.json")):
        board = json.loads(path.read_text())
        for panel in (board, *board["panels"]):
            yield f"{path.name}: {panel['title']}", f"{panel['title']} {panel.get('description', '')}"


def sentences() -> Iterator[tuple[str, str]]:
    """Texts of three words or more in code, without docstrings: plans, findings, columns, hints, errors."""
    for path in (path for part in SAID for path in sorted((ROOT / "streamops" / part).rglob("*.py"))):
        tree = ast.parse(path.read_text())
        # Styles of the console are no prose.
        hidden = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
                text = node.value
                if text.count(" ") > 1 and "{ height:" not in text:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def found(told: Iterator[tuple[str, str]], retired: re.Pattern[str]) -> list[str]:
    return sorted(
        {
            f"{place}: {match[0]}"
            for place, text in told
            if place.partition(":")[0] not in HISTORY
            for match in retired.finditer(text)
        }
    )


@pytest.mark.parametrize("told", [pages, boards])
def test_prose_has_no_retired_word(told: Callable[[], Iterator[tuple[str, str]]]) -> None:
    assert found(told(), RETIRED) == []


@pytest.mark.parametrize("told", [pages, boards, sentences])
def test_prose_and_programs_use_no_retired_construction(
    told: Callable[[], Iterator[tuple[str, str]]],
) -> None:
    assert found(told(), PHRASES) == []
