"""Files that several processes of one user change: no change is lost. Threads stand for processes: each opens the lock."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from streamops.resources.views import SavedView
from streamops.settings.config import chosen_contexts
from streamops.settings.state import exclusive
from streamops.settings.views import save_view

WRITERS = 8
CHANGES = range(64)


def all_at_once(change: Callable[[int], object]) -> None:
    with ThreadPoolExecutor(WRITERS) as pool:
        for _ in pool.map(change, CHANGES):
            pass


def test_choices_written_at_once_are_all_kept(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path / "state")}
    configs = [tmp_path / f"{number}.toml" for number in CHANGES]
    all_at_once(lambda number: chosen_contexts(environ).write(str(configs[number]), f"context-{number}"))
    assert chosen_contexts(environ).read() == {str(configs[n]): f"context-{n}" for n in CHANGES}


def test_views_saved_at_once_are_all_kept(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    all_at_once(lambda number: save_view(f"view-{number}", SavedView(faults=True), environ, tmp_path))
    (file,) = (tmp_path / "streamops").iterdir()
    assert file.read_text().count("[views.view-") == len(CHANGES)


def test_a_change_that_fails_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "state" / "contexts.json"
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), exclusive(path):
            raise ZeroDivisionError
    assert list(path.parent.iterdir()) == []
