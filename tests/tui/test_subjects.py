"""What an action would act on, and which keys fit it."""

import pytest

from streamops.model.ids import EntryId
from streamops.operate.operations.registry import OPERATIONS
from streamops.tui.acting.offers import offers, undoing
from streamops.tui.places import Contexts, Entries, Group, OneEntry, Pending, Place, Status, Stream
from streamops.tui.subjects import VERBS, fitting, subject_at, together, verb_of

ID = EntryId(5, 1)
ENTRY = OneEntry("orders", ID)
OWNED = OneEntry("orders", ID, group="billing", consumer="worker-1")


@pytest.mark.parametrize(
    ("place", "dead_letters", "operations"),
    [
        (Stream("orders"), False, {"T": "trim"}),
        (Entries("orders"), False, {"T": "trim"}),
        (Stream("orders:dlq"), True, {"D": "dlq.purge", "R": "replay"}),
        (
            Group("orders", "billing"),
            False,
            {"C": "claim", "T": "trim", "W": "groups.rewind", "X": "groups.destroy"},
        ),
        (
            Pending("orders", "billing"),
            False,
            {"C": "claim", "T": "trim", "W": "groups.rewind", "X": "groups.destroy"},
        ),
        (Pending("orders", "billing", "w"), False, {"C": "claim", "W": "groups.rewind", "X": "consumers.rm"}),
        (OWNED, False, {"A": "ack", "C": "claim", "D": "streams.rm-entry", "N": "nack"}),
        (ENTRY, False, {"D": "streams.rm-entry", "T": "trim"}),
        (ENTRY, True, {"D": "streams.rm-entry", "R": "replay", "T": "trim"}),
        (Status(), False, {}),
        (Contexts(), False, {}),
    ],
)
def test_the_keys_that_fit(place: Place, dead_letters: bool, operations: dict[str, str]) -> None:  # noqa: FBT001 - a table
    subject = subject_at(place, dead_letters=dead_letters)
    assert {verb.key: verb.operation for verb in fitting(subject)} == operations
    assert all(verb_of(key, subject) for key in operations)
    assert verb_of("Q", subject) is None


def test_every_key_has_its_operation() -> None:
    assert {verb.operation for verb in VERBS} <= set(OPERATIONS)


def test_entries_together_keep_an_owner_they_share() -> None:
    subjects = [
        subject_at(OneEntry("s", EntryId(at, 0), group="g", consumer=owner), dead_letters=False)
        for at, owner in ((1, "a"), (2, "a"), (3, "b"))
    ]
    both, mixed = together(subjects[:2]), together(subjects)
    assert both is not None
    assert mixed is not None
    assert (both.consumer, len(both.ids)) == ("a", 2)
    assert (mixed.consumer, len(mixed.ids)) == (None, 3)
    assert together([]) is None


def names(place: Place, *, dead_letters: bool = False) -> set[str]:
    return {operation.name for operation in offers(subject_at(place, dead_letters=dead_letters))}


def test_the_palette_offers_what_can_be_filled_in() -> None:
    assert names(Status()) == {
        "restore",
        "topics.add",
        "topics.off",
        "topics.on",
        "topics.rm",
        "pause",
        "resume",
    }
    stream = names(Stream("orders"))
    assert {"trim", "publish", "groups.create", "delayed.cancel", "delayed.run-now"} <= stream
    assert not stream & {"claim", "groups.destroy", "consumers.rm", "replay", "dlq.purge", "undo"}
    group = names(Group("orders", "billing"))
    assert stream | {"claim", "ack", "groups.destroy", "consumers.prune"} <= group
    assert "consumers.rm" in names(Pending("orders", "billing", "worker-1"))
    assert {"replay", "dlq.purge"} <= names(Stream("orders:dlq"), dead_letters=True)


def test_undoing_names_the_action() -> None:
    intent = undoing("5-1")
    assert intent is not None
    assert getattr(intent, "audit_id", None) == ID
