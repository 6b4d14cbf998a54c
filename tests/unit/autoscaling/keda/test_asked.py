"""From a trigger's metadata to its pool."""

import pytest

from streamops.autoscaling.keda.answers import KEDAS, BadTrigger, read_trigger
from streamops.autoscaling.keda.board import Board, Reading
from tests.support.tables import table

BOARD = Board(
    {
        "orders": [Reading("orders", "billing"), Reading("returns", "refunds")],
        "mail": [],
    }
)


@table(
    "metadata",
    [
        {"pool": "orders"},
        {"poolFromEnv": "orders"},
        {"pool": "orders", **dict.fromkeys(KEDAS, "anything")},
        {"pool": "orders", "stream": "returns"},
        {"pool": "orders", "group": "billing"},
        {"pool": "orders", "stream": "returns", "group": "refunds"},
        {"pool": "orders", "streamFromEnv": "returns"},
    ],
)
def test_the_pool_is_found(metadata: dict[str, str]) -> None:
    asked = read_trigger(metadata, BOARD)
    assert (asked.pool, asked.view) == ("orders", BOARD.view("orders"))


def test_a_pool_that_does_not_tell_what_it_reads_is_believed() -> None:
    assert read_trigger({"pool": "mail", "stream": "letters", "group": "post"}, BOARD).pool == "mail"


@table(
    ("metadata", "problem"),
    [
        ({}, "has no pool; known: orders, mail"),
        ({"pool": ""}, "has no pool"),
        ({"pool": "order"}, "no pool order; known: orders, mail"),
        ({"pool": "orders", "Stream": "returns", "a": ""}, "says Stream, a, which is not known"),
        (
            {"pool": "orders", "stream": "orders", "group": "refunds"},
            "not of stream orders, group refunds; its workers read stream orders as group billing, stream returns as",
        ),
        ({"pool": "orders", "group": "bill"}, "pool orders is not of group bill"),
        ({"pool": "orders", "stream": "\x1b[2J"}, r"not of stream \x1b[2J"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(metadata: dict[str, str], problem: str) -> None:
    with pytest.raises(BadTrigger) as failure:
        read_trigger(metadata, BOARD)
    assert problem in str(failure.value)
    assert str(failure.value).isprintable()
