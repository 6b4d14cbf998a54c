from hypothesis import given
from hypothesis import strategies as st

from streamops.model.schedules import Backoff
from tests.support.tables import table


@table(
    ("failures", "chance", "seconds"),
    [(1, 1.0, 0.5), (2, 1.0, 1.0), (3, 0.0, 1.0), (7, 1.0, 30.0), (10**6, 1.0, 30.0), (10**6, 0.0, 15.0)],
)
def test_pauses_double_up_to_the_longest_and_half_is_left_to_chance(
    failures: int, chance: float, seconds: float
) -> None:
    assert Backoff(0.5, 30.0).pause(failures, chance) == seconds


@given(st.floats(0.001, 10), st.floats(10, 1e6), st.floats(1, 10), st.integers(1, 10**9), st.floats(0, 1))
def test_no_pause_is_longer_than_the_longest_or_shorter_than_half_the_first(
    first: float, longest: float, factor: float, failures: int, chance: float
) -> None:
    assert first / 2 <= Backoff(first, longest, factor).pause(failures, chance) <= longest
