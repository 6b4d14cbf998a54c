"""What the sample entries say: invented orders, payments, audit records, stock counts and mails."""

from collections.abc import Callable
from random import Random

from msgspec import json

Fields = dict[bytes, bytes]
"""Fields of one entry; the demo's entries repeat no names."""

Payload = Callable[[Random, int], Fields]
"""Makes the fields of one entry from a source of chance and the entry's running number."""

_CURRENCIES = ("EUR", "EUR", "EUR", "USD", "GBP", "CHF")
_GOODS = ("espresso-beans-1kg", "filter-papers-100", "kettle-1l", "grinder-burr", "mug-blue", "scale-0.1g")
_METHODS = ("card", "card", "card", "sepa", "paypal", "invoice")
_ACTIONS = ("login", "password.changed", "refund.granted", "export.started", "role.granted", "invoice.viewed")
_WAREHOUSES = ("hamburg", "lyon", "poznan")
_POISON_AMOUNT = "12,90 EUR"

UNREADABLE_AMOUNT = f"ValueError: could not convert string to float: '{_POISON_AMOUNT}'"
"""What the fraud check says of a poisoned order."""


def encode(**values: str | bytes) -> Fields:
    """Fields of these names and values, as bytes."""
    return {
        name.encode(): value if isinstance(value, bytes) else value.encode() for name, value in values.items()
    }


def order(rng: Random, number: int) -> Fields:
    """A placed order, its lines as JSON."""
    goods = rng.sample(_GOODS, rng.randint(1, 3))
    lines = [{"sku": sku, "quantity": rng.randint(1, 4), "cents": rng.randint(400, 18_000)} for sku in goods]
    return encode(
        event="order.placed",
        order_id=_order_id(number),
        customer=f"cus_{rng.randrange(10_000):04d}",
        amount=_amount(rng),
        currency=rng.choice(_CURRENCIES),
        body=json.encode({"version": 3, "express": rng.choice((False, False, True)), "lines": lines}),
    )


def poisoned_order(rng: Random, number: int) -> Fields:
    """An order whose amount the fraud check cannot read, however often it tries."""
    return order(rng, number) | encode(amount=_POISON_AMOUNT)


def is_poisoned(fields: Fields) -> bool:
    """Whether the fraud check fails on an order."""
    return fields.get(b"amount") == _POISON_AMOUNT.encode()


def payment(rng: Random, number: int) -> Fields:
    """A payment of an order."""
    return encode(
        event=rng.choice(("payment.captured", "payment.captured", "payment.captured", "payment.refunded")),
        payment_id=f"pay_{number:07d}",
        order_id=_order_id(number * 13),
        amount=_amount(rng),
        currency=rng.choice(_CURRENCIES),
        method=rng.choice(_METHODS),
    )


def audit_record(rng: Random, number: int) -> Fields:
    """Who did what, from where."""
    detail = {"number": number, "ip": f"198.51.100.{rng.randrange(1, 255)}", "mfa": rng.choice((True, False))}
    return encode(actor=f"user:{rng.randrange(400)}", action=rng.choice(_ACTIONS), body=json.encode(detail))


def stock_count(rng: Random, number: int) -> Fields:
    """One count of one shelf."""
    return encode(
        sku=rng.choice(_GOODS),
        warehouse=rng.choice(_WAREHOUSES),
        counted=str(rng.randrange(500)),
        count_id=f"cnt_{number:05d}",
    )


def _order_id(number: int) -> str:
    return f"ord_{number:07d}"


def _amount(rng: Random) -> str:
    return f"{rng.lognormvariate(4, 0.8):.2f}"
