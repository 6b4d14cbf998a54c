"""What a view comes to."""

import re

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.keda.answers import is_active, metric_name, without_number
from streamops.autoscaling.keda.board import PoolView
from tests.support.autoscaling.keda.serving import ASLEEP, BLIND, KNOWN
from tests.support.tables import table


@table(
    ("view", "active"),
    [
        (KNOWN, True),
        (ASLEEP, False),
        (replace(KNOWN, active=False), False),
        (replace(ASLEEP, active=True), True),
        (replace(KNOWN, active=None), True),
        (replace(ASLEEP, active=None), False),
        (BLIND, None),
        (PoolView(), None),
        (PoolView(active=True), True),
    ],
)
def test_a_pool_is_not_put_to_sleep_for_want_of_knowledge(view: PoolView, *, active: bool | None) -> None:
    assert is_active(view) is active


@table(
    ("pool", "name"),
    [
        ("orders", "streamops-orders"),
        ("Orders_2", "streamops-Orders_2"),
        ("shop/orders:eu.west", "streamops-shop-orders-eu-west"),
        ("{orders}", "streamops-orders"),
        ("bücher", "streamops-b-cher"),
        ("--", "streamops-pool"),
        ("", "streamops-pool"),
    ],
)
def test_a_metric_is_named_after_its_pool(pool: str, name: str) -> None:
    assert metric_name(pool) == name


@given(st.text(st.characters(codec=None)))
def test_any_pool_has_a_metric_that_may_stand_in_a_path(pool: str) -> None:
    assert re.fullmatch(r"streamops-[A-Za-z0-9_-]+", metric_name(pool))


@given(st.text(), st.integers(0, 99))
def test_the_number_that_keda_adds_comes_off(pool: str, number: int) -> None:
    name = metric_name(pool)
    assert without_number(f"s{number}-{name}") == without_number(name) == name
