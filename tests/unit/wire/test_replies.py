"""Replies become nouns, and replies of other shapes a clear error."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from streamops.errors import UnexpectedReply
from streamops.model.entries import EntryId
from streamops.model.streams import Consumer, Flavour
from streamops.wire.replies import (
    decode_clock,
    decode_consumers,
    decode_entries,
    decode_info,
    decode_pending_rows,
    decode_server,
    decode_version,
)
from tests.support.tables import table
from tests.support.wire.replies import DENIED


def test_clock_of_time_or_else_of_information() -> None:
    told = datetime(2026, 3, 14, 12, 0, 0, 250, tzinfo=UTC)
    seconds = round(told.timestamp())
    time, info = [str(seconds).encode(), b"250"], f"a:1\r\nserver_time_usec:{seconds}000250\r\nb:2".encode()
    assert decode_clock(time, info) == told
    assert decode_clock(time, DENIED) == told
    assert decode_clock(DENIED, info) == told
    assert decode_clock(DENIED, DENIED) is None
    assert decode_clock(DENIED, b"redis_version:7.0.0") is None


def test_server_that_says_nothing() -> None:
    node = decode_server("here", b"")
    assert (node.flavour, node.version, node.used_memory) == (Flavour.REDIS, (0, 0, 0), None)


@table(
    ("text", "version"),
    [
        ("7.0.15", (7, 0, 15)),
        ("8.0", (8, 0, 0)),
        ("8.4-rc1", (8, 0, 0)),
        ("255.255.255", (255,) * 3),
        ("", (0, 0, 0)),
    ],
)
def test_a_version_is_read_as_three_numbers(text: str, version: tuple[int, ...]) -> None:
    assert decode_version(text) == version


def test_consumers_of_all_versions() -> None:
    old = [b"name", b"w\xff", b"pending", 2, b"idle", 1500]
    assert decode_consumers([old]) == (Consumer("w\udcff", 2, timedelta(seconds=1.5), None),)
    assert decode_consumers([[*old, b"inactive", 700], [*old, b"inactive", -1]]) == (
        Consumer("w\udcff", 2, timedelta(seconds=1.5), timedelta(seconds=0.7)),
        Consumer("w\udcff", 2, timedelta(seconds=1.5), None),
    )


def test_a_consumer_never_idles_backwards() -> None:
    """Where the clock was set back, the last entry came after now: that is not never."""
    ahead = [b"name", b"w", b"pending", 0, b"idle", 0, b"inactive", -60_000]
    assert decode_consumers([ahead]) == (Consumer("w", 0, timedelta(0), timedelta(0)),)


def test_pending_entry_never_idles_backwards() -> None:
    (row,) = decode_pending_rows([[b"5-1", b"", -1, 2**63 - 1]])
    assert (row.idle, row.delivery_count, row.consumer) == (timedelta(0), 2**63 - 1, "")


def test_deleted_entries_are_left_out() -> None:
    assert [entry.id for entry in decode_entries([[b"1-1", [b"f", b"v"]], None])] == [EntryId(1, 1)]


@pytest.mark.parametrize(
    ("stream", "groups", "command"),
    [
        ([b"length", 1], [], "XINFO STREAM"),
        (None, [[b"name", b"g", b"consumers", 1]], "XINFO GROUPS"),
    ],
)
def test_replies_without_a_field_are_unexpected(stream: Any, groups: Any, command: str) -> None:  # noqa: ANN401  # raw replies
    with pytest.raises(UnexpectedReply, match=f"{command} has no field") as caught:
        decode_info("orders", 1, stream, groups)
    assert caught.value.hint
    with pytest.raises(UnexpectedReply, match="XINFO CONSUMERS has no field"):
        decode_consumers([[b"name", b"w"]])
