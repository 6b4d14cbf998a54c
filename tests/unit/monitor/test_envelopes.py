"""Envelopes of other libraries, as those libraries write them."""

import json
import struct

from hypothesis import given
from hypothesis import strategies as some

from streamops.model.envelopes import FASTSTREAM, TASKIQ, Envelope, read_envelope
from tests.support.tables import table

MAGIC = b"\x89BIN\x0d\x0a\x1a\x0a"


def binary(body: bytes, headers: dict[str, str]) -> bytes:
    """FastStream's binary format, as its ``BinaryMessageFormatV1`` writes it."""
    packed = b"".join(
        struct.pack(">H", len(text)) + text.encode() for pair in headers.items() for text in pair
    )
    headers_at = len(MAGIC) + 2 + 8
    head = MAGIC + struct.pack(">HII", 1, headers_at, 2 + headers_at + len(packed))
    return head + struct.pack(">H", len(headers)) + packed + body


def test_a_binary_envelope_of_faststream_is_read() -> None:
    headers = {"correlation_id": "c-1", "content-type": "application/json"}
    assert read_envelope(((b"__data__", binary(b'{"n": 1}', headers)),)) == Envelope(
        FASTSTREAM, b'{"n": 1}', headers=tuple(headers.items())
    )


def test_a_json_envelope_of_faststream_is_read() -> None:
    value = json.dumps({"data": '{"n": 1}', "headers": {"tries": 2}}).encode()
    assert read_envelope(((b"__data__", value),)) == Envelope(
        FASTSTREAM, b'{"n": 1}', headers=(("tries", "2"),)
    )


def test_an_envelope_of_taskiq_tells_its_task() -> None:
    task = {"task_id": "t-1", "task_name": "app:pay", "labels": {"queue": 3}, "labels_types": {"queue": 1}}
    value = json.dumps(task | {"args": [1], "kwargs": {"to": "x"}}).encode()
    envelope = read_envelope(((b"data", value),))
    assert envelope is not None
    assert (envelope.library, envelope.task) == (TASKIQ, "app:pay")
    assert json.loads(envelope.body) == {"args": [1], "kwargs": {"to": "x"}}
    assert envelope.headers == (("task_id", "t-1"), ("queue", "3"))


@table(
    ("name", "value"),
    [
        (b"n", b"1"),
        (b"data", b'{"order_id": "o-1"}'),
        (b"data", b"\xff"),
        (b"data", b"[" * 100_000),
        (b"data", b"x" * (1 << 20)),
        (b"__data__", b"plain"),
        (b"__data__", MAGIC),
        (b"__data__", MAGIC + b"\x00\x02" + bytes(20)),
        (b"__data__", MAGIC + struct.pack(">HII", 1, 18, 20) + b"\x00\x09"),
    ],
)
def test_what_is_none_is_left_as_it_stands(name: bytes, value: bytes) -> None:
    assert read_envelope(((name, value),)) is None


@given(some.binary(max_size=80))
def test_no_bytes_are_too_strange(tail: bytes) -> None:
    for name, value in ((b"__data__", MAGIC + tail), (b"__data__", tail), (b"data", tail)):
        read_envelope(((name, value),))


def test_a_whole_envelope_cut_short_anywhere_breaks_nothing() -> None:
    whole = binary(b"body", {"a": "b", "c": "d"})
    for end in range(len(whole)):
        read_envelope(((b"__data__", whole[:end]),))
