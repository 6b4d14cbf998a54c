"""What KEDA is shown of a decision."""

from typing import Any

import pytest

from streamops.autoscaling.keda.board import UNSEEN, Board, PoolView, post_round, view_of
from streamops.model.pools import PoolDecision, Signals
from streamops.model.scaling import ScaleCode
from tests.support.autoscaling.keda.serving import NOON
from tests.support.tables import table


def decision(code: ScaleCode = ScaleCode.STEADY, **told: Any) -> PoolDecision:
    facts: dict[str, Any] = {
        "ordered": 5,
        "ready": 5,
        "target": 7,
        "signals": Signals(lag=900, pending=3, arrivals=1.5),
    }
    return PoolDecision(at=NOON, code=code, text="why", **(facts | told))


def test_a_decision_is_shown_with_all_it_knows() -> None:
    assert view_of(decision()) == PoolView(
        desired=7, active=True, lag_known=True, looked=True, at=NOON, reason="why"
    )


@pytest.mark.parametrize("ordered", [0, 5])
def test_what_could_not_be_read_has_no_number(ordered: int) -> None:
    unread = decision(ScaleCode.UNREADABLE, ordered=ordered, target=ordered, signals=Signals())
    assert view_of(unread) == PoolView(looked=True, reason="why")


def test_a_first_look_at_nobody_knows_no_number() -> None:
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
def test_there_is_work_or_none_or_nobody_knows(signals: Signals, *, active: bool | None) -> None:
    view = view_of(decision(signals=signals))
    assert view.active is active
    assert view.lag_known is (signals.lag is not None)


@pytest.mark.parametrize(
    "outage", [{}, {"orders": decision(ScaleCode.UNREADABLE, target=0)}], ids=["no lead", "no look"]
)
def test_an_outage_in_between_changes_no_number(outage: dict[str, PoolDecision]) -> None:
    board = Board({"orders": []})
    post_round(board, {"orders": decision(ScaleCode.BACKLOG, target=7)})
    post_round(board, outage)
    view = board.view("orders")
    assert view is not None
    assert (view.desired, view.active, view.lag_known, view.at) == (7, None, False, NOON)


def test_a_round_that_began_without_redis_was_a_look() -> None:
    board = Board({"orders": []})
    post_round(board, {})
    assert board.view("orders") == PoolView(looked=True, reason=UNSEEN)
