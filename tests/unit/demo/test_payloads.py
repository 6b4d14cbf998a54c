from random import Random

from streamops.demo.hostile import mail
from streamops.demo.payloads import is_poisoned, poisoned_order
from streamops.demo.sources import ORDERS, SOURCES, Source
from tests.support.tables import table


@table("source", SOURCES)
def test_two_runs_of_one_seed_say_the_same(source: Source) -> None:
    assert [source.payload(Random(1), number) for number in range(20)] == [
        source.payload(Random(1), number) for number in range(20)
    ]


def test_fraud_check_stumbles_over_the_poisoned_order_only() -> None:
    assert is_poisoned(poisoned_order(Random(1), 1))
    assert not any(is_poisoned(ORDERS.payload(Random(seed), seed)) for seed in range(200))


@table(
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
