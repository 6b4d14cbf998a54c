"""The recipe of ARCHITECTURE.md for a new operation: its files, as they stand there, are an operation and its command."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamops.operations
from streamops.cli.command import Acts
from streamops.main.program import ROOT, run
from streamops.operations.registry import LISTED, OPERATIONS, RegistryRow
from tests.support.servers import RunningServer
from tests.support.streams import add_entry

ARCHITECTURE = Path(__file__).parents[3] / "ARCHITECTURE.md"
FILE = re.compile(r"^`operations/(note/\w+\.py)`\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The operation of the recipe, as one of streamops's own."""
    files = dict(FILE.findall(ARCHITECTURE.read_text()))
    assert {*files} == {"note/intent.py", "note/plan.py", "note/run.py"}
    for name, text in {**files, "note/__init__.py": ""}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(streamops.operations, "__path__", [*streamops.operations.__path__, str(tmp_path)])
    monkeypatch.setitem(LISTED, "note", RegistryRow("note", "Add a note to a stream."))
    monkeypatch.setitem(ROOT.members, "note", Acts("note"))
    yield
    OPERATIONS.loaded.pop("note", None)
    for module in [name for name in sys.modules if name.startswith("streamops.operations.note")]:
        del sys.modules[module]


@pytest.mark.usefixtures("note")
def test_operation_of_the_recipe_plans_and_acts(
    server: RunningServer, capfd: pytest.CaptureFixture[str]
) -> None:
    add_entry(server, "orders", "n", 1)
    url = ("--url", server.unix_url)
    assert run(["note", "orders", "deployed", "--dry-run", *url]) == 0
    assert "One entry is added" in capfd.readouterr().out
    assert server.command("XLEN", "orders") == 1
    assert run(["note", "orders", "deployed", "--yes", *url]) == 0
    assert server.command("XREVRANGE", "orders", "+", "-", "COUNT", 1)[0][1] == [b"note", b"deployed"]
    assert run(["audit", "ls", "-o", "json", *url]) == 0
    assert '"note"' in capfd.readouterr().out
