"""``exporter`` as a process: what it says, what it serves, and how it ends."""

import pytest

from tests.support.cli.exporter import assert_told
from tests.support.cli.running import Cli, Place


@pytest.mark.parametrize(
    ("options", "problem", "hint"),
    [
        (["--listen", "9641"], "--listen: not HOST:PORT", "127.0.0.1:9641"),
        (["--listen", "localhost:http"], "--listen: not HOST:PORT", "127.0.0.1:9641"),
        (["--listen", "127.0.0.1:99999"], "--listen: not HOST:PORT", "127.0.0.1:9641"),
        (["--include", "("], "--include: '(' is no regular expression", "regular"),
        (["--max-streams", "0"], "'--max-streams'", "--help"),
        (["--granularity", "entry"], "'--granularity'", "--help"),
        (["--url", "http://here"], "--url", ""),
        (["-c", "nowhere"], "no context named 'nowhere'", ""),
    ],
)
def test_bad_input_is_told(cli: Cli, options: list[str], problem: str, hint: str) -> None:
    assert_told(*cli("exporter", *options), problem, hint)


def test_a_bad_table_is_told(cli: Cli, place: Place) -> None:
    place.configure("[exporter]\nlisten = 'here'\n")
    assert_told(*cli("exporter"), "exporter.listen: not HOST:PORT", "127.0.0.1:9641")
    place.configure("[exporter]\ninclude = ['(']\n")
    assert_told(*cli("exporter"), "include: '(' is no regular expression", "")
