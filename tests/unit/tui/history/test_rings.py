from array import array
from math import isnan, nan

from streamops.tui.history.rings import Resolution, Ring, RingShape, Ticks

TIER = Resolution(10, 4)
SHAPE = RingShape(greatest=1, means=1)


def ring_of(rows: list[tuple[float, ...]], every: float = 10.0) -> tuple[Ticks, Ring]:
    """A ring after rows that came so many seconds apart; a row is value, mark, a greatest and a mean."""
    ticks, ring = Ticks(TIER), Ring(TIER, SHAPE)
    for number, (value, mark, greatest, mean) in enumerate(rows):
        ticks.advance(1000 + number * every, joined=number > 0)
        ring.write(
            ticks.slot,
            array("f", (value, mark, greatest, mean, nan if isnan(mean) else 1)),
            fresh=ticks.fresh,
        )
    return ticks, ring


def kept(ticks: Ticks, ring: Ring) -> list[tuple[float, list[float]]]:
    return [(at, list(ring.row(slot))) for slot, at, _ in ticks.kept()]


def test_the_oldest_gives_way_and_the_room_stays_the_same() -> None:
    ticks, ring = ring_of([(number, 0, number, number) for number in range(9)])
    assert [at for at, _ in kept(ticks, ring)] == [1050.0, 1060.0, 1070.0, 1080.0]
    assert [row[0] for _, row in kept(ticks, ring)] == [5, 6, 7, 8]
    assert len(ring._cells) == 4 * SHAPE.width


def test_readings_of_one_span_become_the_highest_and_the_mean() -> None:
    ticks, ring = ring_of([(3, 0, 1, 10), (7, 3, 9, 20), (5, 0, 4, 60)], every=3)
    assert kept(ticks, ring) == [(1006.0, [7, 3, 9, 30, 3])]


def test_reading_that_is_not_known_changes_nothing_that_is() -> None:
    ticks, ring = ring_of([(3, 2, 1, 10), (nan, 0, nan, nan), (2, 0, 1, 20)], every=3)
    assert kept(ticks, ring) == [(1006.0, [3, 2, 1, 15, 2])]


def test_a_span_of_which_nothing_is_known_stays_unknown() -> None:
    for first in [nan, 4]:
        ticks, ring = ring_of([(first, 0, first, first), (nan, 0, nan, nan)])
        assert [isnan(value) for value in kept(ticks, ring)[-1][1]] == [True, False, True, True, True]


def test_a_span_is_joined_where_its_first_reading_is() -> None:
    ticks = Ticks(TIER)
    for at, joined in ((1000, False), (1004, True), (1012, False), (1014, True), (1021, True)):
        ticks.advance(at, joined=joined)
    assert [joined for _, _, joined in ticks.kept()] == [False, False, True]
