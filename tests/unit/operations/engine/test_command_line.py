"""The command line of a plan: with the server and the speed, wherever its names begin."""

import pytest

from streamops.model.acting import Limits
from streamops.operations.commands import full_command


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("", ""),
        ("streamops replay k:dlq", "streamops -c prod replay k:dlq --rate 1000/s"),
        ("streamops replay --count 3 -- -dlq", "streamops -c prod replay --count 3 --rate 1000/s -- -dlq"),
    ],
)
def test_server_and_speed_stand_where_they_are_read(line: str, wanted: str) -> None:
    assert full_command(line, ("-c", "prod"), Limits(rate=1000.0)) == wanted


@pytest.mark.parametrize("rate", [0.5, 1 / 60, 12_345_678.0])
def test_a_speed_is_written_so_that_it_is_read_back(rate: float) -> None:
    word = full_command("streamops replay q", (), Limits(rate=rate)).split()[-1]
    assert float(word.removesuffix("/s")) == pytest.approx(rate)


def test_what_needs_neither_stays_as_it_is() -> None:
    assert full_command("streamops replay q", ()) == "streamops replay q"
