"""The views that KEDA is shown, the triggers that it sends, and the names of its metrics."""

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.keda.answers import (
    KEDAS,
    UNSEEN,
    BadTrigger,
    Board,
    PoolView,
    metric_name,
    read_trigger,
    view_of,
    without_number,
)
from streamops.model.pools import PoolDecision, ScaleCode, Signals
from tests.support.autoscaling.keda.serving import ASLEEP, BLIND, KNOWN, NOON, new_board
from tests.support.tables import table


def decision(code: ScaleCode = ScaleCode.STEADY, **told: Any) -> PoolDecision:
    signals = Signals(lag=900, pending=3, arrivals=1.5)
    facts: dict[str, Any] = {"ordered": 5, "ready": 5, "target": 7, "signals": signals}
    return PoolDecision(at=NOON, code=code, text="why", **(facts | told))


@table(
    ("before", "view", "desired", "active"),
    [
        (PoolView(), KNOWN, 7, True),
        (PoolView(), ASLEEP, 0, False),
        (PoolView(), replace(KNOWN, active=False), 7, False),
        (PoolView(), replace(ASLEEP, active=True), 0, True),
        (PoolView(), replace(KNOWN, active=None), 7, True),
        (PoolView(), replace(ASLEEP, active=None), 0, False),
        (PoolView(), BLIND, None, None),
        (PoolView(), PoolView(), None, None),
        (PoolView(), PoolView(active=True), None, True),
        (KNOWN, BLIND, 7, True),
        (ASLEEP, BLIND, 0, False),
        (replace(KNOWN, active=False), BLIND, 7, True),
        (KNOWN, ASLEEP, 0, False),
    ],
)
def test_a_pool_keeps_its_number_and_is_not_put_to_sleep_for_want_of_knowledge(
    before: PoolView, view: PoolView, desired: int | None, *, active: bool | None
) -> None:
    board = new_board()
    board.post("orders", before)
    board.post("orders", view)
    found = board.view("orders")
    assert found is not None
    assert (found.desired, found.active) == (desired, active)
    assert (found.lag_known, found.reason, found.at) == (view.lag_known, view.reason, view.at or before.at)


def test_a_view_of_an_unknown_pool_cannot_be_posted() -> None:
    board = new_board()
    assert board.view("other") is None
    with pytest.raises(KeyError):
        board.post("other", KNOWN)


async def test_a_change_wakes_those_who_wait_and_keeps_no_latecomer_waiting() -> None:
    board = new_board()
    before = board.view("mail")
    assert before is not None
    waiting = [asyncio.create_task(board.after("mail", before)) for _ in range(3)]
    await asyncio.sleep(0)
    board.post("mail", before)
    board.post("orders", KNOWN)
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    board.post("mail", KNOWN)
    assert await asyncio.gather(*waiting) == [KNOWN] * 3
    assert await board.after("mail", before) == KNOWN


@table(
    ("shown", "view"),
    [
        (decision(), PoolView(desired=7, active=True, lag_known=True, looked=True, at=NOON, reason="why")),
        (decision(ScaleCode.UNREADABLE, signals=Signals()), PoolView(looked=True, reason="why")),
        (
            decision(ScaleCode.UNREADABLE, ordered=0, target=0, signals=Signals()),
            PoolView(looked=True, reason="why"),
        ),
    ],
)
def test_a_decision_is_shown_with_what_was_read(shown: PoolDecision, view: PoolView) -> None:
    assert view_of(shown) == view


def test_a_first_look_at_a_pool_without_workers_knows_no_number() -> None:
    assert view_of(decision(ScaleCode.WARMUP, ordered=0, target=1)).desired is None
    assert view_of(decision(ScaleCode.WARMUP, ordered=5, target=5)).desired == 5
    assert view_of(decision(ScaleCode.IDLE, ordered=0, target=0)).desired == 0


@table(
    ("signals", "active"),
    [
        (Signals(lag=1, pending=0, arrivals=0.0), True),
        (Signals(lag=0, pending=1, arrivals=0.0), True),
        (Signals(lag=0, pending=0, arrivals=0.2), True),
        (Signals(lag=0, pending=0, arrivals=0.0), False),
        (Signals(lag=0, pending=0), False),
        (Signals(at_least=4, pending=0, arrivals=0.0), True),
        (Signals(at_least=0, pending=2), True),
        (Signals(at_least=0, pending=0, arrivals=0.0), None),
        (Signals(pending=0), None),
    ],
)
def test_an_unknown_lag_alone_does_not_tell_whether_there_is_work(
    signals: Signals, *, active: bool | None
) -> None:
    view = view_of(decision(signals=signals))
    assert view.active is active
    assert view.lag_known is (signals.lag is not None)


@pytest.mark.parametrize(
    "outage", [{}, {"orders": decision(ScaleCode.UNREADABLE, target=0)}], ids=["no lead", "no look"]
)
def test_an_outage_changes_no_number(outage: dict[str, PoolDecision]) -> None:
    board = new_board()
    board.post_round({"orders": decision(ScaleCode.BACKLOG, target=7)})
    board.post_round(outage)
    view = board.view("orders")
    assert view is not None
    assert (view.desired, view.active, view.lag_known, view.at) == (7, True, False, NOON)


def test_a_round_without_redis_is_a_look() -> None:
    board = new_board()
    board.post_round({})
    assert board.view("orders") == PoolView(looked=True, reason=UNSEEN)


@table(
    "metadata",
    [
        {"pool": "orders"},
        {"poolFromEnv": "orders"},
        {"pool": "orders", **dict.fromkeys(KEDAS, "anything")},
        {"pool": "orders", "stream": "orders"},
        {"pool": "orders", "group": "billing"},
        {"pool": "orders", "stream": "orders", "group": "billing"},
        {"pool": "orders", "groupFromEnv": "billing"},
    ],
)
def test_a_trigger_names_its_pool(metadata: dict[str, str]) -> None:
    board = new_board()
    assert read_trigger(metadata, board) == ("orders", board.view("orders"))


@table(
    ("metadata", "problem"),
    [
        ({}, "has no pool; known: orders, mail"),
        ({"pool": ""}, "has no pool"),
        ({"pool": "order"}, "no pool order; known: orders, mail"),
        ({"pool": "orders", "Stream": "returns", "a": ""}, "says Stream, a, which is not known"),
        (
            {"pool": "orders", "stream": "orders", "group": "refunds"},
            "not of stream orders, group refunds; its workers read stream orders as group billing",
        ),
        ({"pool": "orders", "group": "bill"}, "pool orders is not of group bill"),
        ({"pool": "orders", "stream": "\x1b[2J"}, r"not of stream \x1b[2J"),
    ],
)
def test_a_bad_trigger_is_explained_in_a_line(metadata: dict[str, str], problem: str) -> None:
    with pytest.raises(BadTrigger) as failure:
        read_trigger(metadata, new_board())
    assert problem in str(failure.value)
    assert str(failure.value).isprintable()


def test_a_trigger_without_any_pool_configured_is_explained() -> None:
    with pytest.raises(BadTrigger, match="there are none"):
        read_trigger({"pool": "orders"}, Board({}))


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


@given(st.text(st.characters(codec=None)), st.integers(0, 99))
def test_a_metric_may_stand_in_a_path_and_loses_the_number_of_keda(pool: str, number: int) -> None:
    name = metric_name(pool)
    assert re.fullmatch(r"streamops-[A-Za-z0-9_-]+", name)
    assert without_number(f"s{number}-{name}") == without_number(name) == name
