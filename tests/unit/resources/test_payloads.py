"""How an entry is shown: every payload, whatever is in it, bounded and safe."""

import gzip
import json
import sys
import tracemalloc
import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.entries import EntryId, StreamEntry
from streamops.resources.decoders import ZSTD_MAGIC, zstd_library
from streamops.resources.payloads import (
    INDENTED_BYTES,
    PREVIEW_CHARACTERS,
    SHOWN_BYTES,
    Decoding,
    ValueKind,
    decode_as,
    hex_lines,
    preview,
    render_entry,
    render_value,
    whole_text,
)
from tests.support.resources.text import unsafe_characters
from tests.support.tables import table

HOSTILE = [
    b"[@click=app.quit]orders[/]",
    b"[/x]",
    b"[true, false]",
    b"\x1b]52;c;ZXZpbA==\x07",
    b"\x1b]0;title\x07",
    "\u202eevil".encode(),
    b"\xff\xfe\x00\x01",
    b"\x9b31m",
    b"a\r\nb\n\nc",
    b"{" * 5_000,
    b"[" * 100_000,
    json.dumps({"esc": "\x1b[31m", "bidi": "\u202e"}, ensure_ascii=False).encode(),
]
payloads = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    ).map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    st.sampled_from(HOSTILE),
)


def entry(*fields: tuple[bytes, bytes]) -> StreamEntry:
    return StreamEntry(EntryId(1_700_000_000_000, 0), fields)


@table(
    ("value", "kind", "lines"),
    [
        (b"", ValueKind.EMPTY, ()),
        (b"hello", ValueKind.TEXT, ("hello",)),
        (b"42", ValueKind.TEXT, ("42",)),
        (b"two\nlines", ValueKind.TEXT, ("two", "lines")),
        (b'{"a":1.50,"b":[true]}', ValueKind.JSON, ("{", '  "a": 1.50,', '  "b": [', "    true", "  ]", "}")),
        (b'{"a":1,"a":2}', ValueKind.JSON, ("{", '  "a": 1,', '  "a": 2', "}")),
        (b"{broken", ValueKind.TEXT, ("{broken",)),
        (b"[/x]", ValueKind.TEXT, ("[/x]",)),
        (
            msgspec.msgpack.encode({"id": [1, 2]}),
            ValueKind.MSGPACK,
            ("{", '  "id": [', "    1,", "    2", "  ]", "}"),
        ),
        (b"\x08\x96\x01\x12\x02hi", ValueKind.PROTOBUF, ("1 VARINT 150", '2 LEN "hi"')),
        (b"\x12\x02hi", ValueKind.TEXT, (r"\x12\x02hi",)),  # a message too, but text is text
        (b"\xff\x00A", ValueKind.HEX, ("00000000  ff 00 41                                         |..A|",)),
    ],
)
def test_value_is_shown_as_the_format_it_is_in(value: bytes, kind: ValueKind, lines: tuple[str, ...]) -> None:
    view = render_value(value)
    assert (view.kind, tuple(view.lines_in(80)), view.size, view.note) == (kind, lines, len(value), "")


@table(
    ("size", "width", "line"),
    [
        (32, 77, "00000000  41 41 41 41 41 41 41 41 41 41 41 41 41 41 41 41  |AAAAAAAAAAAAAAAA|"),
        (32, 76, "0000  41 41 41 41 41 41 41 41 41 41 41 41 41 41 41 41  |AAAAAAAAAAAAAAAA|"),
        (32, 72, "00000000  41 41 41 41 41 41 41 41  |AAAAAAAA|"),
        (70_000, 76, "00000000  41 41 41 41 41 41 41 41  |AAAAAAAA|"),
        (32, 29, "00000000  41 41 41 41  |AAAA|"),
        (32, 1, "0000  41  |A|"),
    ],
)
def test_a_hex_dump_fits_the_width_there_is(size: int, width: int, line: str) -> None:
    lines = hex_lines(b"A" * size, width)
    assert lines[0] == line
    assert all(len(one) == len(line) for one in lines)
    assert len(line) <= max(width, len("0000  41  |A|"))


def test_raw_text_stays_as_it_came() -> None:
    view = render_value(b'{"a":1}', raw=True)
    assert (view.kind, view.lines) == (ValueKind.TEXT, ('{"a":1}',))


@table(
    ("value", "note"),
    [
        (b"\x1f\x8b\x08\x00\xff", "looks like gzip"),
        (b"\x80\x04\x95\xff", "looks like pickle"),
        (b"\xff" * 70_000, "first 64.0 KiB of 68.4 KiB"),
        (b"x" * 70_000, "first 64.0 KiB of 68.4 KiB"),
        (b"[" + b"[[[1]]]," * 8_000 + b"1]", "cut after 256.0 KiB of indented text"),
    ],
)
def test_what_is_left_out_or_guessed_is_said(value: bytes, note: str) -> None:
    assert render_value(value).note == note


@given(payloads)
def test_any_payload_is_shown_safely_and_bounded(value: bytes) -> None:
    view = render_value(value)
    assert not any(unsafe_characters(line) for line in view.lines)
    assert sum(len(line) for line in view.lines_in(80)) <= INDENTED_BYTES * 12
    line = preview(entry((value, value)))
    assert not unsafe_characters(line)
    assert len(line) <= PREVIEW_CHARACTERS


@table(
    ("value", "lines", "note"),
    [
        (gzip.compress(b'{"a":1}'), ("{", '  "a": 1', "}"), "gzip inflated"),
        (zlib.compress(b"two\nlines"), ("two", "lines"), "zlib inflated"),
        (gzip.compress(gzip.compress(b"x")), None, "gzip inflated"),
        (gzip.compress(b"a") + gzip.compress(b"b"), ("a",), "gzip inflated, the first 1 B"),
        (gzip.compress(b"0" * 10_000_000), None, "gzip inflated, the first 64.0 KiB"),
        (zlib.compress(b"x")[:1] + b"\x9c\xff", None, ""),
        (gzip.compress(b"\x08\x96\x01"), ("1 VARINT 150",), "gzip inflated"),
    ],
)
def test_what_is_compressed_is_inflated_once_and_bounded(
    value: bytes, lines: tuple[str, ...] | None, note: str
) -> None:
    view = render_value(value)
    assert view.note == note
    assert view.size == len(value)
    assert sum(map(len, view.lines_in(80))) <= 12 * SHOWN_BYTES
    if lines is not None:
        assert view.lines == lines
    assert render_value(value, raw=True).kind is ValueKind.HEX


def test_pager_is_given_what_was_compressed() -> None:
    assert whole_text(gzip.compress(b'{"a": 1}')) == b'{\n  "a": 1\n}'
    assert whole_text(b"\x08\x96\x01") == b"1 VARINT 150"


def zstd_frame(content: bytes, times: int = 1, window: int = 0) -> bytes:
    """A frame that says a block of one byte so many times, or the content as it is."""
    header = ZSTD_MAGIC + b"\x00" + bytes([window << 3])
    if times == 1:
        return header + (len(content) << 3 | 1).to_bytes(3, "little") + content
    blocks = [
        (1 << 10 << 3 | 1 << 1 | (number == times - 1)).to_bytes(3, "little") for number in range(times)
    ]
    return header + b"".join(block + content for block in blocks)


@pytest.mark.skipif(zstd_library() is None, reason="streamops[zstd] is not installed")
@table(
    ("value", "lines", "note"),
    [
        (zstd_frame(b'{"a":1}'), ("{", '  "a": 1', "}"), "zstd inflated"),
        (zstd_frame(zstd_frame(b"\xff")), None, "zstd inflated"),
        (zstd_frame(b"a") + zstd_frame(b"b"), ("a",), "zstd inflated, the first 1 B"),
        (zstd_frame(b"0", 10_000), None, "zstd inflated, the first 64.0 KiB"),
        (zstd_frame(b"x")[:-1], None, "looks like zstd"),
        (zstd_frame(b"x", window=30), None, "looks like zstd"),  # a terabyte to go back to
        (ZSTD_MAGIC + b"\xff" * 20, None, "looks like zstd"),
    ],
)
def test_zstd_is_inflated_once_and_bounded(value: bytes, lines: tuple[str, ...] | None, note: str) -> None:
    view = render_value(value)
    assert view.note == note
    assert len(view.lines_in(80)) <= SHOWN_BYTES
    if lines is not None:
        assert view.lines == lines
    assert whole_text(zstd_frame(b"ab")) == b"ab"


def test_without_its_library_zstd_is_said_to_need_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    zstd_library.cache_clear()
    try:
        view = render_value(zstd_frame(b"hello"))
    finally:
        zstd_library.cache_clear()
    assert view.kind is ValueKind.HEX
    assert view.note == "zstd, not inflated: pip install 'streamops[zstd]'"


@table(
    ("decoding", "value", "kind", "note"),
    [
        (Decoding.PROTOBUF, b"\x12\x02hi", ValueKind.PROTOBUF, ""),
        (Decoding.PROTOBUF, b"{}", ValueKind.TEXT, "not protobuf"),
        (
            Decoding.PROTOBUF,
            b"\x08\x01" * 40_000,
            ValueKind.TEXT,
            "too large to be taken apart as protobuf here",
        ),
        (Decoding.JSON, b"\x08\x96\x01", ValueKind.HEX, "not json"),
    ],
)
def test_what_somebody_says_it_is_holds_where_it_is_so(
    decoding: Decoding, value: bytes, kind: ValueKind, note: str
) -> None:
    view = decode_as(value, decoding)
    assert view.kind is kind
    assert view.note.startswith(note)


def test_escapes_of_json_are_shown_as_what_they_stand_for() -> None:
    text = "\n".join(render_value(rb'{"a": "caf\u00e9 \ud83d\ude00 \\u00e9 \u0022 \u202e"}').lines)
    assert text == '{\n  "a": "café 😀 \\\\u00e9 \\u0022 \\u202e"\n}'


def test_numbers_and_escapes_of_json_stay_as_they_were_written() -> None:
    text = "\n".join(render_value(b'{"big": 12345678901234567890.0, "esc": "\\u001b"}').lines)
    assert "12345678901234567890.0" in text
    assert r"\u001b" in text


def test_megabytes_and_thousands_of_fields_are_bounded_together() -> None:
    many = entry(*((b"f%d" % number, b"v" * 1_000) for number in range(4_000)))
    views = render_entry(many)
    assert len(views) == 4_000
    assert sum(len(line) for view in views for line in view.value.lines) <= SHOWN_BYTES + 1_000
    assert views[-1].value.note == "first 0 B of 1000 B"


def test_a_value_of_megabytes_costs_what_its_shown_part_costs() -> None:
    value = b"\xff" * 20_000_000
    tracemalloc.start()
    render_value(value)
    preview(entry((b"body", value)))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < len(value) / 4


@table(
    ("fields", "shown"),
    [
        ((), ""),
        (((b"id", b"7"), (b"state", b"new")), "id=7 state=new"),
        (((b"id", b"7"), (b"id", b"8")), "id=7 id=8"),
        (((b"b", b"x" * 500),), "b=" + "x" * 120 + "… +380 bytes"),
        (((b"\xff", b"\n"),), r"\xff=\n"),
    ],
)
def test_preview_shows_fields_and_what_was_cut(fields: tuple[tuple[bytes, bytes], ...], shown: str) -> None:
    assert preview(entry(*fields)) == shown


def test_a_preview_fits_its_width() -> None:
    view: Any = preview(entry(*((b"name", b"value") for _ in range(100))), 20)
    assert view == "name=value name=val…"
