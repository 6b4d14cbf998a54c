"""What is committed is what the builders make."""

from dashboards.boards.every import FILES, board_files
from tests.support.dashboards.shown import DIRECTORY


def test_the_committed_files_are_what_the_builders_make() -> None:
    made = board_files()
    assert made == board_files()
    for path, text in made.items():
        committed = (DIRECTORY / path).read_text()
        assert committed == text, f"dashboards/{path} is out of date: run `python -m dashboards`"


def test_committed_boards_are_those_that_are_generated() -> None:
    assert {path.name for path in DIRECTORY.glob("*.json")} == set(FILES)
