"""Where the loop posts and the servers wait."""

import asyncio

import pytest
from msgspec.structs import replace

from streamops.autoscaling.keda.board import PoolView, Reading, held
from tests.support.autoscaling.keda.serving import ASLEEP, BLIND, KNOWN, NOON, new_board


def test_a_number_once_known_is_kept() -> None:
    assert held(KNOWN, BLIND) == replace(BLIND, desired=7, at=NOON)
    assert held(ASLEEP, BLIND).desired == 0
    assert held(PoolView(), BLIND) == BLIND
    assert held(KNOWN, replace(KNOWN, desired=0)).desired == 0


def test_whether_there_is_work_is_not_guessed_from_before() -> None:
    assert held(KNOWN, BLIND).active is None


def test_pools_keep_their_streams() -> None:
    board = new_board()
    board.post("orders", KNOWN)
    view = board.view("orders")
    assert view is not None
    assert view.reads == (Reading("orders", "billing"),)
    assert board.view("other") is None
    with pytest.raises(KeyError):
        board.post("other", KNOWN)


async def test_whoever_waits_is_woken_and_whoever_is_late_does_not_wait() -> None:
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
