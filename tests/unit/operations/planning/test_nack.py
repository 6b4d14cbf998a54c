"""Giving entries back in words."""

from datetime import timedelta

import pytest

from streamops.model.acting import StreamIdentity
from streamops.model.entries import EntryId, PendingEntry
from streamops.operations.nack.intent import NackIntent
from streamops.operations.nack.plan import NackEvidence, plan_nack


def planned(number: int) -> tuple[tuple[str, ...], str]:
    rows = tuple(PendingEntry(EntryId(at, 0), "w", timedelta(0), 1) for at in range(1, number + 1))
    intent = NackIntent(stream="s", group="g", ids=tuple(row.id for row in rows))
    evidence = NackEvidence(identity=StreamIdentity(), rows=rows, absent=0, elsewhere=0)
    plan = plan_nack(intent, evidence)
    return plan.effects, plan.undo


@pytest.mark.parametrize(
    ("number", "owner", "gets", "undo"),
    [
        (
            1,
            "1 entry will be free for any consumer: the idle time is set to 30 days",
            "gets it;",
            "restores its owner",
        ),
        (
            2,
            "2 entries will be free for any consumer: the idle time is set to 30 days",
            "gets them;",
            "restores their owner",
        ),
    ],
)
def test_a_plan_of_a_nack_words_one_entry_and_several(number: int, owner: str, gets: str, undo: str) -> None:
    effects, back = planned(number)
    assert owner in effects[0]
    assert gets in effects[0]
    assert undo in back
