"""``check --format nagios`` says OK, WARNING or CRITICAL of what it judged, and UNKNOWN whatever else happens."""

from pathlib import Path
from typing import Final

import pytest

from tests.support.cli.invented_console import InventedConsole
from tests.support.cli.running import Cli
from tests.support.wire.lying import replying_to_all

CHECK: Final = ("check", "--format", "nagios")
LIES: Final = {
    "nothing of Redis": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "another kind": b":1\r\n" * 100,
    "empty arrays": b"*0\r\n" * 100,
    "nulls": b"$-1\r\n" * 100,
    "an endless size": b"$99999999999999999999\r\n" * 10,
    "negative sizes": b"*-5\r\n" * 10,
    "errors": b"-ERR \x1b[2J|lag=0\r\n" * 100,
    "cut off": b"*3\r\n$5\r\nhe",
}
WRONG: Final = {
    "a limit": (*CHECK, "--lag", "many"),
    "an option": (*CHECK, "--lags", "5"),
    "a global option": ("--nonsense", *CHECK),
    "a format": ("check", "--format=nagios", "--pending-age", "soon"),
    "a context": ("-c", "missing", *CHECK),
    "a URL": ("--url", "gopher://h", *CHECK),
    "a timeout": ("--timeout", "nan", *CHECK),
    "columns": ("-o", "wide", *CHECK),
}


def assert_unknown(result: tuple[int, str, str]) -> None:
    code, out, _ = result
    assert code == 3, result
    assert out.startswith("STREAMOPS UNKNOWN - ")
    assert len(out.splitlines()) == 1
    assert "|" not in out
    assert out[:-1].isprintable()


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_server_that_lies_is_unknown(lie: bytes, cli: Cli) -> None:
    with replying_to_all(lie) as port:
        assert_unknown(cli(*CHECK, "--url", f"redis://127.0.0.1:{port}/0", "--timeout", "0.5"))


@pytest.mark.parametrize("args", WRONG.values(), ids=WRONG)
def test_a_wrong_command_line_is_unknown(args: tuple[str, ...], cli: Cli) -> None:
    assert_unknown(cli(*args))


def test_a_broken_configuration_is_unknown(cli: Cli) -> None:
    Path("streamops.toml").write_text("[contexts\n")
    assert_unknown(cli(*CHECK))


@pytest.mark.parametrize(
    "error", [KeyError("a\n|b\x1b"), RecursionError(), KeyboardInterrupt(), OSError(5, "I/O")]
)
def test_what_was_not_foreseen_is_unknown(
    error: BaseException, cli: Cli, invented: InventedConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail() -> None:
        raise error

    monkeypatch.setattr(invented, "discover", fail)
    assert_unknown(cli(*CHECK))


def test_without_nagios_codes_are_as_they_were(cli: Cli) -> None:
    assert cli("check", "--lag", "many").code == 2
    assert cli("check", "nagios", "--format").code == 2
