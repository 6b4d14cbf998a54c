"""Bytes without a schema, taken for a message of Protocol Buffers where they are one."""

import struct
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from streamops.resources.decoders import (
    DEEPEST,
    I32,
    I64,
    LEN,
    MOST_FIELDS,
    VARINT,
    ProtobufField,
    is_likely,
    protobuf_text,
    read_protobuf,
)
from tests.support.tables import table


def varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def written(fields: Sequence[ProtobufField]) -> bytes:
    """The fields as a serializer writes them."""
    message = b""
    for number, wire_type, value in fields:
        content = value if isinstance(value, int | bytes) else written(value)
        message += varint(number << 3 | wire_type)
        if isinstance(content, int):
            message += varint(content)
        else:
            message += (varint(len(content)) if wire_type == LEN else b"") + content
    return message


texts = st.text(st.characters(exclude_categories=("C", "Z"))).map(str.encode)
scalars = st.one_of(
    st.tuples(st.integers(1, 5), st.just(VARINT), st.integers(0, 2**64 - 1)),
    st.tuples(st.integers(6, 9), st.just(I64), st.binary(min_size=8, max_size=8)),
    st.tuples(st.integers(10, 15), st.just(I32), st.binary(min_size=4, max_size=4)),
    st.tuples(st.integers(16, 20), st.just(LEN), texts),
).map(lambda parts: ProtobufField(*parts))
# What is nested begins with a varint of two bytes, of which the second is no text.
nested = st.lists(scalars, max_size=3).map(
    lambda more: ProtobufField(21, LEN, [ProtobufField(1, VARINT, 128), *more])
)


@given(st.lists(scalars | nested, min_size=1, max_size=8))
def test_what_was_written_is_read(fields: list[ProtobufField]) -> None:
    found = read_protobuf(written(fields))
    assert found == fields
    assert protobuf_text(found).count("\n") >= len(fields) - 1


@table(
    ("fields", "lines"),
    [
        ([(1, VARINT, 150)], ["1 VARINT 150"]),
        ([(3, VARINT, 2**64 - 1)], ["3 VARINT 18446744073709551615 (signed -1)"]),
        ([(2, LEN, b'say "hi"\n')], [r'2 LEN "say \"hi\"\n"']),
        ([(2, LEN, b"")], ['2 LEN ""']),
        ([(4, LEN, b"\xff\x00A")], ["4 LEN ff 00 41"]),
        ([(4, LEN, b"\xff" * 2_000)], ["4 LEN " + " ".join(["ff"] * 1_024) + " … +976 bytes"]),
        ([(5, I64, struct.pack("<d", 1.5))], ["5 I64 4609434218613702656 (double 1.5)"]),
        ([(6, I32, struct.pack("<f", -2.0))], ["6 I32 3221225472 (float -2)"]),
        ([(7, LEN, [(1, VARINT, 150), (2, LEN, b"x")])], ["7 LEN {", "  1 VARINT 150", '  2 LEN "x"', "}"]),
    ],
)
def test_each_field_has_a_line_with_number_and_wire_type(
    fields: list[ProtobufField], lines: list[str]
) -> None:
    found = read_protobuf(written(fields))
    assert found is not None
    assert protobuf_text(found).split("\n") == lines


@table(
    "value",
    [
        b"",
        b"\x08",  # no value
        b"\x08\x96",  # a varint that breaks off
        b"\x08" + b"\xff" * 10 + b"\x01",  # more than 64 bits
        b"\x12\x05abcd",  # shorter than it says
        b"\x0d\x01\x02\x03",
        b"\x00\x01",  # the number 0
        b"\x0b\x0c",  # groups
        b"\x0f\x01",  # no such wire type
        b"\x08\x01" * (MOST_FIELDS + 1),
    ],
)
def test_what_does_not_parse_to_its_last_byte_is_no_message(value: bytes) -> None:
    assert read_protobuf(value) is None


@table(
    ("fields", "likely"),
    [
        ([(1, VARINT, 1)], True),
        ([(1, VARINT, 1), (1, VARINT, 2)], True),
        ([(1, I64, bytes(8)), (2, I64, bytes(8))], True),
        ([(1, I64, bytes(8))], False),
        ([(1, VARINT, 1), (1, LEN, b"a")], False),
        ([(1, VARINT, 1), (90_000, VARINT, 1)], False),
    ],
)
def test_fields_that_hardly_anybody_writes_are_not_likely(
    fields: list[ProtobufField], *, likely: bool
) -> None:
    assert is_likely([ProtobufField(*field) for field in fields]) is likely


@given(st.binary(max_size=400))
def test_any_bytes_are_a_message_or_none_and_raise_nothing(value: bytes) -> None:
    fields = read_protobuf(value)
    if fields is not None:
        # A wire type byte and a length at most, a line at most and its brace.
        assert protobuf_text(fields).count("\n") <= 2 * len(value)


def test_messages_in_messages_are_followed_so_far_and_no_further() -> None:
    value = b"\x08\x80\x01"
    for _ in range(10 * DEEPEST):
        value = b"\x12" + varint(len(value)) + value
    fields = read_protobuf(value)
    assert fields is not None
    assert protobuf_text(fields).count("{") == DEEPEST
