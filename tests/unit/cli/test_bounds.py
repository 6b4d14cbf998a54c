"""Numbers that are none, or too large or small to mean anything, are usage errors."""

import pytest

from tests.support.cli.running import Cli


@pytest.mark.parametrize(
    "args",
    [
        ("--timeout", "nan", "status"),
        ("--timeout", "inf", "status"),
        ("--timeout", "1e30", "status"),
        ("status", "--sample", "0"),
        ("status", "--sample", "0.1ms"),
        ("status", "--sample", "100d"),
    ],
)
def test_a_number_out_of_bounds_is_a_usage_error(args: tuple[str, ...], cli: Cli) -> None:
    result = cli(*args)
    assert result.code == 2
    assert result.err.startswith("error: ")
    assert "bug" not in result.err
