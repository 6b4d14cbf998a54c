"""Every test that SECURITY.md calls a proof is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROOFS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text())))


@pytest.mark.parametrize(("path", "name"), PROOFS)
def test_a_promise_has_its_proof(path: str, name: str) -> None:
    text = (ROOT / path).read_text()
    assert f"def {name}(" in text if name else "def " in text


def test_there_are_promises() -> None:
    assert len(PROOFS) > 20


@pytest.mark.parametrize("page", ["README.md", "docs/formats.md"])
def test_what_holds_promises_is_where_the_pages_say(page: str) -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", (ROOT / page).read_text())
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []
    assert links


def test_the_readme_leads_there() -> None:
    assert "[SECURITY.md](SECURITY.md)" in (ROOT / "README.md").read_text()
