from datetime import UTC, datetime

from streamops.demo.dead_letters import DemoFailure, dead_letter, dead_letter_stream
from streamops.model.entries import EntryId


def test_dead_letter_keeps_the_entrys_fields_first_and_adds_the_reserved_ones() -> None:
    failure = DemoFailure(
        stream="orders:events",
        entry_id=EntryId(1_700_000_000_000, 3),
        group="fraud",
        consumer="fraud-1",
        reason="max-deliveries",
        error="ValueError: no",
        deliveries=20,
        failed_at=datetime(2026, 8, 1, 12, 30, 15, 250_000, tzinfo=UTC),
    )
    letter = dead_letter({b"z": b"1", b"a": b"\xff"}, failure)
    assert list(letter.items()) == [
        (b"z", b"1"),
        (b"a", b"\xff"),
        (b"_so_origin", b"orders:events"),
        (b"_so_origin_id", b"1700000000000-3"),
        (b"_so_group", b"fraud"),
        (b"_so_consumer", b"fraud-1"),
        (b"_so_reason", b"max-deliveries"),
        (b"_so_error", b"ValueError: no"),
        (b"_so_deliveries", b"20"),
        (b"_so_failed_at", b"2026-08-01T12:30:15.250Z"),
    ]


def test_dead_letters_live_in_the_slot_of_their_stream() -> None:
    assert dead_letter_stream("orders:events") == "{orders:events}:dlq"
