from random import Random

import pytest
from msgspec import json

from streamops.demo.hostile import mail
from streamops.demo.payloads import is_poisoned, order, poisoned_order
from streamops.demo.sources import ORDERS, SOURCES, Source


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stream)
def test_two_runs_of_one_seed_say_the_same(source: Source) -> None:
    assert [source.payload(Random(1), number) for number in range(20)] == [
        source.payload(Random(1), number) for number in range(20)
    ]


def test_order_body_is_json() -> None:
    assert json.decode(order(Random(1), 1)[b"body"])["lines"]


def test_fraud_check_stumbles_over_the_poisoned_order_only() -> None:
    assert is_poisoned(poisoned_order(Random(1), 1))
    assert not any(is_poisoned(ORDERS.payload(Random(seed), seed)) for seed in range(200))


def test_amount_of_a_poisoned_order_is_no_number() -> None:
    with pytest.raises(ValueError, match="could not convert"):
        float(poisoned_order(Random(1), 1)[b"amount"])


@pytest.mark.parametrize(
    "danger",
    [
        b"\x1b[2J",
        b"\x1b]52;",
        b"\x9b",
        b"\xff\xfe",
        b"[@click=app.quit]",
        b"\x00",
        b"\r\n",
        "\u202e".encode(),
    ],
)
def test_mails_hold_every_danger(danger: bytes) -> None:
    mails = [mail(Random(1), number) for number in range(8)]
    assert any(danger in value for fields in mails for value in fields.values())


def test_some_mail_is_large() -> None:
    assert max(len(mail(Random(1), number)[b"body"]) for number in range(8)) > 10_000
