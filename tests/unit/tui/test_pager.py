import os
import stat
from pathlib import Path

import pytest

from streamops.tui.terminal.pager import NoPager, find_pager, page, paged_bytes
from tests.support.tui.driving import press, running, shown
from tests.support.tui.pager import script
from tests.support.tui.paging_console import VALUE, PagingApp
from tests.support.tui.shop import shop_source
from tests.support.tui.source import settings_for


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_the_persons_own_pager_wins() -> None:
    assert find_pager({"PAGER": "less -R '+/x y'"}, which=lambda name: f"/bin/{name}") == (
        "less",
        "-R",
        "+/x y",
    )
    assert find_pager({"PAGER": "  "}, which=lambda name: f"/bin/{name}") == ("/bin/less",)
    assert find_pager({}, which={"more": "/bin/more"}.get) == ("/bin/more",)


def test_without_a_pager_it_says_what_to_do() -> None:
    for environment, words in [
        ({}, "there is no pager"),
        ({"PAGER": "nowhere -x"}, "nowhere is not there"),
        ({"PAGER": "'"}, "is not a command"),
    ]:
        with pytest.raises(NoPager, match=words) as refused:
            find_pager(environment, which=lambda _: None)
        assert "PAGER" in refused.value.hint or "program" in refused.value.hint


def test_a_pager_is_given_nothing_that_a_terminal_obeys() -> None:
    shown = paged_bytes(VALUE, raw=False).decode()
    assert shown.startswith("first line\nesc ")
    assert all(line.isprintable() for line in shown.split("\n"))
    assert paged_bytes(b"a\r\nb\xff\n", raw=False).count(b"\n") == 2
    assert paged_bytes(VALUE, raw=True) == VALUE


def test_the_file_is_private_and_goes(tmp_path: Path, temporary: Path) -> None:
    kept = tmp_path / "kept"
    pager = script(tmp_path, f'stat -c %a "$1" > {kept}; echo "$LESSSECURE" >> {kept}; cat "$1" >> {kept}')
    page(b"value\n", {"PAGER": pager, "PATH": os.environ["PATH"]})
    assert kept.read_text() == "600\n1\nvalue\n"
    assert list(temporary.iterdir()) == []
    assert stat.S_IMODE(kept.stat().st_mode) != 0


def test_a_pager_that_fails_is_told_and_leaves_nothing(tmp_path: Path, temporary: Path) -> None:
    with pytest.raises(NoPager, match="ended with code 3"):
        page(b"value", {"PAGER": script(tmp_path, "exit 3"), "PATH": os.environ["PATH"]})
    assert list(temporary.iterdir()) == []


async def test_where_nothing_can_be_suspended_it_says_so() -> None:
    app = PagingApp(settings_for(shop_source()))
    async with running(app):
        await press(app, "f2")
        await shown(app, "a value: a browser has no pager")
