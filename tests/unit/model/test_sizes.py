import pytest

from streamops.errors import SettingsError
from streamops.model.measures import parse_size
from tests.support.tables import table


@table(
    ("written", "number"),
    [
        ("0", 0),
        ("1500", 1500),
        ("1b", 1),
        ("1k", 1_000),
        ("1kB", 1_024),
        ("1KiB", 1_024),
        ("500MB", 500 << 20),
        ("2GiB", 2 << 30),
        ("1.5 GiB", 3 << 29),
        (" 1T ", 10**12),
    ],
)
def test_numbers_of_bytes_are_read(written: str, number: int) -> None:
    assert parse_size(written) == number


@table("written", ["", "much", "-1", "1.2.3", "1XB", "1 i", "1e9", "GB", "1" * 17, "\uff11GB"])
def test_text_that_is_no_size_is_refused(written: str) -> None:
    with pytest.raises(SettingsError, match="no number of bytes"):
        parse_size(written)
