"""What an action would act on, and which keys fit it."""

from streamops.model.entries import EntryId
from streamops.operations.registry import OPERATIONS
from streamops.tui.acting.offers import offers, undoing
from streamops.tui.acting.questions import questions_for
from streamops.tui.routes import (
    ContextsRoute,
    DeadLetterEntriesRoute,
    DeadLetterRoute,
    DelayedMessageRoute,
    DelayedRoute,
    EntriesRoute,
    EntryRoute,
    GroupRoute,
    PendingRoute,
    Route,
    StatusRoute,
    StreamRoute,
    TraceRoute,
)
from streamops.tui.rows.selection import (
    VERBS,
    Selection,
    SelectionKind,
    fitting,
    queue_of,
    selection_at,
    together,
    verb_of,
)
from tests.support.tui import sample

ID = EntryId(5, 1)
ENTRY = EntryRoute("orders", ID)
OWNED = EntryRoute("orders", ID, group="billing", consumer="worker-1")


def test_the_keys_that_fit() -> None:
    cases: list[tuple[Route, bool, dict[str, str]]] = [
        (StreamRoute("orders"), False, {"T": "trim"}),
        (EntriesRoute("orders"), False, {"T": "trim"}),
        (StreamRoute("orders:dlq"), True, {"D": "dlq.purge", "R": "replay"}),
        (
            GroupRoute("orders", "billing"),
            False,
            {"C": "claim", "T": "trim", "W": "groups.rewind", "X": "groups.destroy"},
        ),
        (
            PendingRoute("orders", "billing"),
            False,
            {"C": "claim", "T": "trim", "W": "groups.rewind", "X": "groups.destroy"},
        ),
        (
            PendingRoute("orders", "billing", "w"),
            False,
            {"C": "claim", "W": "groups.rewind", "X": "consumers.rm"},
        ),
        (OWNED, False, {"A": "ack", "C": "claim", "D": "streams.rm-entry", "N": "nack", "X": "dlq.add"}),
        (ENTRY, False, {"D": "streams.rm-entry", "T": "trim"}),
        (ENTRY, True, {"D": "streams.rm-entry", "E": "replay", "R": "replay", "T": "trim"}),
        (DeadLetterEntriesRoute("orders:dlq"), True, {"D": "dlq.purge", "R": "replay"}),
        (DeadLetterRoute("orders:dlq", ID), True, {"D": "dlq.purge", "E": "replay", "R": "replay"}),
        (DelayedRoute("orders"), False, {"D": "delayed.cancel", "R": "delayed.run-now"}),
        (DelayedMessageRoute("orders", "m"), False, {"D": "delayed.cancel", "R": "delayed.run-now"}),
        (TraceRoute("orders", ID), False, {"D": "streams.rm-entry", "T": "trim"}),
        (StatusRoute(), False, {}),
        (ContextsRoute(), False, {}),
    ]
    for place, dead_letters, operations in cases:
        selection = selection_at(place, dead_letters=dead_letters)
        assert {verb.key: verb.operation for verb in fitting(selection)} == operations
        assert all(verb_of(key, selection) for key in operations)
        assert verb_of("Q", selection) is None


def test_topic_that_is_on_is_switched_off_and_the_other_way_round() -> None:
    for selection, operations in [
        (Selection(sort=SelectionKind.TOPIC, topic="t"), {"P": "topics.off", "X": "topics.rm"}),
        (Selection(sort=SelectionKind.TOPIC_OFF, topic="t"), {"P": "topics.on", "X": "topics.rm"}),
        (Selection(sort=SelectionKind.POOL, pool="p"), {"P": "pause", "S": "scale.set"}),
        (Selection(sort=SelectionKind.POOL_PAUSED, pool="p"), {"P": "resume", "S": "scale.set"}),
    ]:
        assert operations.items() <= {verb.key: verb.operation for verb in fitting(selection)}.items()
        for operation in operations.values():
            first = questions_for(OPERATIONS[operation].intent, selection, {}, long=False)[0]
            assert first.value == (selection.topic or selection.pool)


def test_a_topic_or_a_pool_fills_in_no_stream() -> None:
    for selection in (
        Selection(sort=SelectionKind.TOPIC, topic="t"),
        Selection(sort=SelectionKind.POOL, pool="p"),
    ):
        assert "trim" not in {operation.name for operation in offers(selection)}


def test_the_dead_letters_of_a_stream_are_found_by_what_they_serve() -> None:
    assert queue_of(sample.shop().streams, "payments") == "payments:dlq"
    assert queue_of(sample.shop().streams, "payments:dlq") == "payments:dlq"
    assert queue_of(sample.shop().streams, "orders") is None
    assert queue_of((), "payments") is None


def test_every_key_has_its_operation() -> None:
    assert {verb.operation for verb in VERBS} <= set(OPERATIONS)


def test_entries_together_keep_an_owner_they_share() -> None:
    subjects = [
        selection_at(EntryRoute("s", EntryId(at, 0), group="g", consumer=owner), dead_letters=False)
        for at, owner in ((1, "a"), (2, "a"), (3, "b"))
    ]
    both, mixed = together(subjects[:2]), together(subjects)
    assert both is not None
    assert mixed is not None
    assert (both.consumer, len(both.ids)) == ("a", 2)
    assert (mixed.consumer, len(mixed.ids)) == (None, 3)
    assert together([]) is None


def names(place: Route, *, dead_letters: bool = False) -> set[str]:
    return {operation.name for operation in offers(selection_at(place, dead_letters=dead_letters))}


def test_the_palette_offers_what_can_be_filled_in() -> None:
    assert names(StatusRoute()) == {
        "restore",
        "topics.add",
        "topics.off",
        "topics.on",
        "topics.rm",
        "topics.recover",
        "pause",
        "resume",
        "scale.set",
        "pools.rm",
        "autoscale.pause",
        "autoscale.resume",
        "autoscale.override",
        "autoscale.limits",
    }
    stream = names(StreamRoute("orders"))
    assert {"trim", "publish", "groups.create", "delayed.cancel", "delayed.run-now"} <= stream
    assert not stream & {"claim", "groups.destroy", "consumers.rm", "replay", "dlq.purge", "undo"}
    group = names(GroupRoute("orders", "billing"))
    assert stream | {"claim", "ack", "groups.destroy", "consumers.prune"} <= group
    assert "consumers.rm" in names(PendingRoute("orders", "billing", "worker-1"))
    assert {"replay", "dlq.purge"} <= names(StreamRoute("orders:dlq"), dead_letters=True)


def test_undoing_names_the_action() -> None:
    intent = undoing("5-1")
    assert intent is not None
    assert getattr(intent, "audit_id", None) == ID
