"""Facts of plans: what is left out, and how each is said."""

import pytest

from streamops.model import effects
from streamops.model.effects import ROWS, Effect, EffectRow, say, sentences
from streamops.model.entries import Amount
from tests.support.tables import table


def test_no_two_rows_are_of_one_kind_and_reason() -> None:
    rows = [row for row in vars(effects).values() if isinstance(row, EffectRow)]
    assert len(rows) + len(effects.UNRESTORABLE) + len(effects.NOT_REDELIVERABLE) == len(ROWS)


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: f"{row.kind}.{row.reason}")
def test_of_none_there_is_no_fact_unless_that_is_worth_saying(row: EffectRow) -> None:
    assert (row(0) is not None) is row.always
    assert row(Amount(0, 1)) is not None
    assert row() is not None


@table(
    ("fact", "sentence"),
    [
        (
            effects.ACKNOWLEDGED(2, group="g", names=["a", "b"]),
            "2 entries will count as processed by group g, and not be delivered to consumers a, b again.",
        ),
        (effects.RESTORED(1, "s", "with new IDs"), "1 entry is added to stream s, with new IDs."),
        (effects.STREAM_CREATED(1, "s", "is created"), "Stream s is created."),
        (effects.HELD_BY_UNREAD(Amount(0, 7), group="g"), "group g has yet to read up to 7 entries"),
        (effects.KEPT_ACTIVE(1), "1 consumer is kept, idle for a shorter time."),
        (
            effects.LOSES_UNREAD(Amount(3, 9), group="g"),
            "Group g loses at least 3 entries (at most 9) that it has yet to read.",
        ),
        (
            effects.LOSES_PENDING(1_200, group="g", names=[("a", 1_100), ("b", 100)]),
            "Group g loses 1,200 pending entries (a 1,100, b 100).",
        ),
        (
            effects.CLAIMED(12, "r", names=[("a", 7), ("b", 5)]),
            "12 entries of a (7), b (5) will be owned by r.",
        ),
        (effects.CLAIMED(7, "r", names=[("a", 7)]), "7 entries of a will be owned by r."),
        (
            effects.REDELIVERED(Amount(0, 2_000)),
            "Up to 2,000 entries will be delivered again to its consumers.",
        ),
        (
            effects.STILL_PENDING(3, names=["a"], open_ended=True),
            (
                "At least 3 of them are still pending: the next consumer to read takes them from a, and their delivery count restarts at 1."
            ),
        ),
        (
            effects.OLDEST_GO(Amount(1, 9), "up to ", "10 entries", ""),
            "The oldest up to 9 (at least 1 could be counted) of 10 entries are removed.",
        ),
        (effects.RESIZED(1, "4"), "4 to 1 worker."),
        (effects.REASONS(3, "", names=[("timeout", 2), ("rejected", 1)]), "Reasons: timeout 2, rejected 1."),
        (
            effects.NOT_PENDING(1),
            "1 ID is not pending in this group (acknowledged, or not delivered to it yet), and will be left out.",
        ),
        (
            effects.PASSED_OVER(1),
            "1 entry will never be delivered to it; they stay in the stream.",
        ),
        (effects.PUBLISHED(1, "s", names=["a", "b"]), "One entry will be added to s; 2 groups will get it."),
        (
            effects.MISSING(9, "", names=["1-1", "2-1"]),
            "No longer in the stream, though pending: 1-1, 2-1 and 7 more; acknowledging them removes them.",
        ),
    ],
)
def test_a_fact_is_said_with_the_noun_that_fits_its_number(fact: Effect, sentence: str) -> None:
    assert say(fact) == sentence


def test_facts_that_begin_alike_are_one_sentence() -> None:
    unread, pending = effects.LOSES_UNREAD(3, group="g"), effects.LOSES_PENDING(2, group="g", names=["a"])
    other = effects.LOSES_PENDING(1, group="h", names=["b"])
    assert sentences([unread, pending, other, None, False, "So.", effects.STILL_DELAYED(4)]) == (
        "Group g loses 3 entries that it has yet to read and 2 pending entries (a).",
        "Group h loses 1 pending entry (b).",
        "So.",
    )
