"""Intents made in Python are held to what the command line holds its options to."""

from collections.abc import Callable
from typing import Any

import pytest

from streamops.model.entries import ZERO_ID
from streamops.model.selections import DeadLetterSelection
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.replay.intent import ReplayIntent
from tests.support.tables import table


@table(
    "where",
    [
        {"back": -1},
        {},
        {"back": 1, "to_end": True},
        {"to_start": True, "to_end": True},
        {"to_id": ZERO_ID, "to_start": True},
    ],
)
def test_rewind_to_no_position_or_to_two_is_refused(where: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="--back"):
        RewindGroupIntent(stream="orders", group="billing", **where)


@pytest.mark.parametrize("kind", [DeadLetterSelection, PurgeIntent, ReplayIntent])
def test_selection_of_fewer_than_no_letters_is_refused(kind: Callable[..., DeadLetterSelection]) -> None:
    with pytest.raises(ValueError, match="--count is below zero"):
        kind(queue="orders:dlq", count=-1)
    assert kind(queue="orders:dlq", count=0).count == 0
