"""What dead letters, delayed messages, topics, workers and stories look like."""

from pathlib import Path

import pytest

from tests.support.tui.beside_snapshots import keys
from tests.support.tui.shop import shop_source
from tests.support.tui.snapshots import SIZES, Compare
from tests.support.tui.source import app_for

TO_LETTERS = ["4", "enter"]
TO_DELAYED = ["colon", *"delayed", "enter"]
TO_TOPICS = ["colon", *"topics", "enter"]
LISTS = {
    "queues": ["4"],
    "letters": [*TO_LETTERS, "down", "space", "space"],
    "delayed queues": TO_DELAYED,
    "delayed": [*TO_DELAYED, "enter", "down"],
    "topics": TO_TOPICS,
    "workers": ["5", "down"],
    "worker": ["5", "end", "enter"],
    "pending": [*"jjjj", "enter", "l", "down"],
}
TEXTS = {
    "letter": [*TO_LETTERS, "enter"],
    "edit": [*TO_LETTERS, "E"],
    "message": [*TO_DELAYED, "enter", "down", "enter"],
    "topic": [*TO_TOPICS, "down", "enter"],
    "story": [*"jjjj", "enter", "l", "a"],
}
LOOKS = [(name, size) for name in LISTS for size in SIZES] + [
    (name, size) for name in TEXTS for size in SIZES[:2]
]


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "size"), LOOKS, ids=["{} {}x{}".format(name, *size) for name, size in LOOKS]
)
def test_screen(snap_compare: Compare, name: str, size: tuple[int, int]) -> None:
    pressed = LISTS.get(name) or TEXTS[name]
    assert snap_compare(app_for(shop_source()), terminal_size=size, run_before=keys(*pressed))
