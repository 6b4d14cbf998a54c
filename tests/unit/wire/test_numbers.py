"""Numbers as anybody may have written them."""

from datetime import UTC, datetime, timedelta

from streamops.wire.replies import LARGEST, instant_of_ms, number, span, whole
from tests.support.tables import table

DAY_MS = 86_400_000


@table(
    ("text", "found"),
    [("0", 0), (b"12", 12), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("9" * 5000, None), ("-1", None), ("1.5", None),
     ("", None), ("²", None), (b"\xb2", None), ("nan", None), (None, None)],
)  # fmt: skip
def test_text_is_read_as_a_number_or_none(text: str | bytes | None, found: int | None) -> None:
    assert number(text) == found


@table(
    ("text", "found"),
    [("0", datetime(1970, 1, 1, tzinfo=UTC)), (b"86400000", datetime(1970, 1, 2, tzinfo=UTC)), ("9" * 17, None),
     ("9" * 5000, None), ("-" + "9" * 17, None), ("inf", None), (None, None)],
)  # fmt: skip
def test_milliseconds_become_a_moment_or_none_beyond_the_calendar(
    text: str | bytes | None, found: datetime | None
) -> None:
    assert instant_of_ms(text) == found


def test_milliseconds_become_a_span_up_to_the_greatest() -> None:
    assert span(DAY_MS) == timedelta(days=1)
    assert span(LARGEST) == span(10**30) <= timedelta.max


@table(("told", "count"), [(7, 7), (-1, -1), (b"9223372036854775808", LARGEST), (b"12", 12)])
def test_counts_of_scripts(told: int | bytes, count: int) -> None:
    assert whole(told) == count
