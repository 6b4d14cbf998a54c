"""What is published, as an entry's fields."""

import enum
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import PublishError
from streamops.runtime.codec import decoder, encode_body, encode_fields
from tests.support.strategies import names
from tests.support.tables import table


class Order(msgspec.Struct):
    order_id: str
    total: int


@dataclass
class Refund:
    order_id: str
    total: int


class Stock(TypedDict):
    item: str
    left: int


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


JSON = b'{"order_id":"a","total":3}'


@table(
    ("body", "parts"),
    [
        (Order("a", 3), [b"data", JSON]),
        (Refund("a", 3), [b"data", JSON]),
        (Stock(item="pen", left=3), [b"item", b"pen", b"left", b"3"]),
        ({"a": {"b": 1}}, [b"data", b'{"a":{"b":1}}']),
        ({"a": None}, [b"data", b'{"a":null}']),
        ([1, 2], [b"data", b"[1,2]"]),
        ([["a", 1]], [b"data", b'[["a",1]]']),
        ("text", [b"data", b'"text"']),
        (7, [b"data", b"7"]),
        (b"\xff\x00", [b"data", b"\xff\x00"]),
        (bytearray(b"b"), [b"data", b"b"]),
        (
            {"s": "ö", "b": b"\xff", "i": -1, "f": 0.1},
            [b"s", b"\xc3\xb6", b"b", b"\xff", b"i", b"-1", b"f", b"0.1"],
        ),
        ({"yes": True, "no": False}, [b"yes", b"true", b"no", b"false"]),
        (OrderedDict([(b"\xff", "x")]), [b"\xff", b"x"]),
        ({"c": Colour.RED, "l": Level.HIGH}, [b"c", b"red", b"l", b"3"]),
        ([("b", 1), ("a", 2), ("b", 3)], [b"b", b"1", b"a", b"2", b"b", b"3"]),
        ((("b", "x"),), [b"b", b"x"]),
        ({"": ""}, [b"", b""]),
        ({"\udcff": "\udcfe"}, [b"\xff", b"\xfe"]),
    ],
)
def test_body_is_written_as_fields(body: object, parts: list[bytes]) -> None:
    assert encode_body(body) == parts


@table(
    ("body", "words"),
    [
        ({}, "the body is empty"),
        ([], "the body is empty"),
        ((), "the body is empty"),
        (None, "the body is None"),
        (object(), "type object cannot be encoded"),
        ({"a": object()}, "type dict cannot be encoded"),
        ({"_so_origin": "x"}, "_so_origin is reserved"),
        ([("a", 1), (b"_so_attempt", 1)], "_so_attempt is reserved"),
        ({"a": "\ud800"}, "no Unicode"),
    ],
)
def test_a_body_that_cannot_be_published_is_refused(body: object, words: str) -> None:
    with pytest.raises(PublishError, match=words) as raised:
        encode_body(body)
    assert raised.value.hint


def test_a_body_that_holds_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(PublishError, match="cannot be encoded"):
        encode_body(endless)


def test_further_fields_are_encoded_unless_reserved_or_not_plain() -> None:
    assert encode_fields(()) == []
    assert encode_fields({"trace": "t", "n": 1}) == [b"trace", b"t", b"n", b"1"]
    assert encode_fields([("a", b"1"), ("a", b"2")]) == [b"a", b"1", b"a", b"2"]
    with pytest.raises(PublishError, match="reserved"):
        encode_fields({"_so_x": 1})
    with pytest.raises(PublishError, match="no plain value"):
        encode_fields({"x": [1]})


@given(names(), st.integers())
def test_a_struct_comes_back(order_id: str, total: int) -> None:
    try:
        order_id.encode()
    except UnicodeEncodeError:
        with pytest.raises(PublishError):
            encode_body(Order(order_id, total))
        return
    if not -(2**63) <= total < 2**64:
        total = 0
    order = Order(order_id, total)
    assert decoder(Order, "handler")(encode_body(order)) == order


@given(
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.text(st.characters(exclude_categories=["Cs"])),
)
def test_plain_fields_come_back(number: int, share: float, flag: bool, text: str) -> None:  # noqa: FBT001 - drawn by Hypothesis
    class Plain(msgspec.Struct):
        number: int
        share: float
        flag: bool
        text: str

    number = max(-(2**63), min(number, 2**63 - 1))
    body: dict[str, Any] = {"number": number, "share": share, "flag": flag, "text": text}
    assert decoder(Plain, "handler")(encode_body(body)) == Plain(**body)
