"""What is written down of what was done; exporters are judged by it."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.chaos.watchers.stage import ARGUMENTS
from tests.chaos.watchers.writer import Writer
from tests.support.servers import StartServer

STREAM, GROUP = "orders", "billing"

Do = Callable[..., tuple[int, int]]
"""Does something, and returns how many entries were delivered to a group until now, and skipped."""


@pytest.fixture
def do(start_server: StartServer, tmp_path: Path) -> Do:
    writer = Writer(start_server("--dir", str(tmp_path), *ARGUMENTS), Random(1))

    def do(*words: str | float) -> tuple[int, int]:
        writer._do(STREAM, *words)
        return writer.done["delivered", STREAM, GROUP], writer.done["skipped", STREAM, GROUP]

    for number in range(1, 11):
        do("XADD", STREAM, f"{number}-0", "n", "1")
    return do


def read(do: Do, count: int) -> tuple[int, int]:
    return do("XREADGROUP", "GROUP", GROUP, "c1", "COUNT", count, "STREAMS", STREAM, ">")


def test_what_is_removed_ahead_of_a_group_is_skipped(do: Do) -> None:
    assert read(do, 4) == (4, 0)
    assert do("XTRIM", STREAM, "MAXLEN", 3) == (4, 3)
    assert do("XACK", STREAM, GROUP, "1-0") == (4, 3)
    assert read(do, 5) == (7, 3)


def test_so_is_what_is_pending_and_waits_again(do: Do) -> None:
    assert read(do, 5) == (5, 0)
    assert do("XGROUP", "SETID", STREAM, GROUP, "0") == (5, 0)
    assert do("XTRIM", STREAM, "MAXLEN", 7) == (5, 3)
    assert read(do, 2) == (7, 3)


@pytest.mark.parametrize(("position", "skipped"), [("4-0", 6), ("0", 10)])
def test_a_position_behind_what_is_removed_skips_it_once_more(do: Do, position: str, skipped: int) -> None:
    read(do, 4)
    do("XTRIM", STREAM, "MAXLEN", 3)
    assert read(do, 1) == (5, 3)
    assert do("XGROUP", "SETID", STREAM, GROUP, position) == (5, skipped)
    assert read(do, 1) == (6, skipped)


def test_a_group_that_is_made_anew_skips_nothing_once_more(do: Do) -> None:
    read(do, 4)
    do("XTRIM", STREAM, "MAXLEN", 6)
    assert do("XGROUP", "DESTROY", STREAM, GROUP) == (4, 6)
    assert do("XGROUP", "CREATE", STREAM, GROUP, "0") == (4, 6)
