"""On a terminal: colour where it is welcome, no column cut in silence, progress that cleans up after itself."""

import pytest

from tests.support.cli.terminal import COLOR, on_terminal
from tests.support.servers import RunningServer


@pytest.fixture
def url(server: RunningServer) -> str:
    client = server.client
    for number in range(20):
        client.xadd("orders:europe:priority", {"n": str(number)})
    client.xgroup_create("orders:europe:priority", "billing-and-invoices", "0")
    client.xadd("orders:dlq", {"n": "0"})
    return server.unix_url


def test_colour_is_for_terminals_that_want_it(url: str) -> None:
    assert COLOR.search(on_terminal("status", "--url", url).text)
    assert not COLOR.search(on_terminal("status", "--url", url, "--no-color").text)
    assert not COLOR.search(on_terminal("status", "--url", url, NO_COLOR="1").text)
    assert not COLOR.search(on_terminal("status", "--url", url, TERM="dumb").text)


@pytest.mark.parametrize("width", [40, 80, 140])
def test_names_are_whole_and_dropped_columns_are_named(url: str, width: int) -> None:
    shown = on_terminal("status", "--url", url, width=width).plain
    table = shown.split("\n\n")[0]
    assert all(len(line) <= width for line in table.splitlines())
    assert "…" not in table
    if width >= 80:
        assert "orders:europe:priority" in table
    if width < 140:
        assert "not enough width for " in shown


def test_without_unicode_ascii_stands_in(url: str) -> None:
    shown = on_terminal("status", "--url", url, "--no-color", PYTHONIOENCODING="ascii").text
    assert shown.isascii()
    assert "! warn" in shown


def test_progress_leaves_no_trace(url: str) -> None:
    shown = on_terminal(
        "streams", "search", "orders:europe:priority", "--field", "n=gone", "--url", url, width=200
    ).text
    assert "\r\x1b[Kscanned 20 entries" in shown
    last = shown.rstrip("\n").split("\x1b[K")[-1]
    assert last.startswith("0 match; scanned 20 entries")


def test_errors_are_in_one_piece(url: str) -> None:
    shown = on_terminal("streams", "show", "gone", "--url", url)
    assert shown.code == 1
    assert shown.text.startswith("error: there is no stream gone\nhint: ")


def test_the_console_needs_a_terminal_that_can_draw(url: str) -> None:
    shown = on_terminal("tui", "--url", url, TERM="dumb")
    assert shown.code == 2
    assert "streamops status" in shown.text
