"""A short soak, and the tools of the long one."""

from pathlib import Path

import pytest

from tests.chaos.soak.books import Line, Published, Word, balance, runs_of
from tests.chaos.soak.flatness import Trend, trend
from tests.chaos.soak.report import lines, problems
from tests.chaos.soak.run import Soak
from tests.conftest import newest_program
from tests.servers import StartServer

MINUTES = 8
PACE = 60.0
HOUR = 3600.0


@pytest.mark.timeout(300)
async def test_a_short_soak_accounts_for_every_event(start_server: StartServer, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    durable = ("--dir", str(kept), "--appendonly", "yes", "--appendfsync", "always")
    server = start_server(*durable, program=newest_program())
    result = await Soak(server, tmp_path, minutes=MINUTES, pace=PACE, seed=5).run()
    # Too short for anything to stand still: that is judged where it is long.
    assert problems(result, judge_gauges=False) == [], "\n".join(lines(result))
    assert result.balance.done > 0
    assert result.figures[0] > 0
    assert result.counted.delivered > 0
    assert sum(result.faults.values()) == MINUTES


PUBLISHED = Published({1, 2, 3, 4}, {5, 6})
DONE = [Line(Word.DONE, 1, 1), Line(Word.DONE, 2, 1), Line(Word.RAISED, 1, 2), Line(Word.DONE, 1, 5)]


def test_books_balance_where_every_event_is_done_dead_or_purged() -> None:
    books = balance(PUBLISHED, DONE, letters={2, 3}, purged={4})
    assert books.adds_up
    assert (books.confirmed, books.arrived) == (4, 1)
    assert (books.done, books.dead, books.purged, books.again) == (2, 2, 1, 1)


def test_a_confirmed_event_that_is_nowhere_is_lost() -> None:
    books = balance(PUBLISHED, DONE, letters={2}, purged={4})
    assert not books.adds_up
    assert books.lost == (3,)


def test_an_event_that_nobody_published_is_told() -> None:
    books = balance(PUBLISHED, DONE, letters={2, 3, 7}, purged={4})
    assert not books.adds_up
    assert books.invented == (7,)


def test_runs_are_counted_by_process() -> None:
    assert runs_of(DONE, 1) == (3, 1)
    assert runs_of(DONE, 2) == (1, 0)


def test_what_warms_up_and_jumps_about_is_flat() -> None:
    readings = [(at * 60.0, 30.0 + min(at, 20) + (50 if at % 7 == 0 else 0)) for at in range(100)]
    found = trend(readings)
    assert found is not None
    assert found.level == 50.0
    assert found.gained == 0.0
    assert found.is_flat


@pytest.mark.parametrize(("an_hour", "flat"), [(0.3, True), (0.7, False)])
def test_what_grows_by_more_than_a_twentieth_is_not_flat(an_hour: float, *, flat: bool) -> None:
    readings = [(at * 60.0, 50.0 + at * 60.0 / HOUR * an_hour + at % 3) for at in range(480)]
    found = trend(readings)
    assert found is not None
    assert found.is_flat is flat


def test_one_connection_more_is_no_trend() -> None:
    assert Trend(9.0, 1.0, unit=1.0).is_flat
    assert not Trend(9.0, 2.0, unit=1.0).is_flat


def test_of_one_reading_no_trend_is_told() -> None:
    assert trend([(0.0, 1.0)]) is None
    assert trend([(1.0, 1.0), (1.0, 2.0)]) is None
