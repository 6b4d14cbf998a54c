"""Pages, boards and help say the glossary's words (ARCHITECTURE.md, Glossary)."""

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


@pytest.mark.parametrize("told", [pages, boards])
def test_prose_has_no_retired_word(told: Callable[[], Iterator[tuple[str, str]]]) -> None:
    found = {
        f"{place}: {match[0]}"
        for place, text in told()
        if place.partition(":")[0] not in HISTORY
        for match in RETIRED.finditer(text)
    }
    assert sorted(found) == []
