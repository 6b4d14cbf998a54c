"""No requirement is without its test."""

import re
from pathlib import Path

ROWS = {"a": 14, "b": 5, "c": 11, "d": 7, "e": 5}
NAME = re.compile(r"^(?:async )?def test_([a-e]\d+)_", re.MULTILINE)


def test_every_requirement_has_a_test() -> None:
    named = {
        name for path in Path(__file__).parent.glob("test_?_*.py") for name in NAME.findall(path.read_text())
    }
    assert named == {f"{letter}{row}" for letter, rows in ROWS.items() for row in range(1, rows + 1)}
