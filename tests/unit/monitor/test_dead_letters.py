"""Dead letters of every shape."""

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.dead_letters import (
    DeadLetter,
    DeadLetterShape,
    dead_letter_document,
    edited,
    read_dead_letter,
    republished,
    retried,
)
from streamops.model.entries import EntryId, StreamEntry
from tests.support.tables import table

QUEUE = "{orders}:dlq"
AT = EntryId(1_600_000_000_000, 3)
OWN = ((b"kind", b"order"), (b"tag", b"a"), (b"tag", b"\xff"))
ABOUT = (
    (b"_so_origin", b"orders"),
    (b"_so_origin_id", b"5-1"),
    (b"_so_group", b"billing"),
    (b"_so_consumer", b"worker-\xff"),
    (b"_so_reason", b"rejected"),
    (b"_so_error", b"boom"),
    (b"_so_deliveries", b"5"),
    (b"_so_attempt", b"2"),
    (b"_so_failed_at", b"2020-09-13T12:26:40.000Z"),
)

fields = st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=12))).map(tuple)
reserved = st.lists(st.tuples(st.sampled_from([name for name, _ in ABOUT]), st.binary(max_size=12))).map(
    tuple
)


def letter_of(*pairs: tuple[bytes, bytes], source: str | None = "orders") -> DeadLetter:
    return read_dead_letter(StreamEntry(AT, pairs), QUEUE, source)


def test_a_letter_of_streamops_tells_origin_reason_and_attempts() -> None:
    letter = letter_of(*OWN, *ABOUT, source=None)
    assert (letter.id, letter.queue, letter.fields, letter.shape) == (AT, QUEUE, OWN, DeadLetterShape.OURS)
    assert (letter.origin, letter.origin_id, letter.born_id) == ("orders", EntryId(5, 1), EntryId(5, 1))
    assert (letter.group, letter.consumer, letter.reason) == ("billing", "worker-\udcff", "rejected")
    assert (letter.error, letter.deliveries, letter.attempt, letter.replays) == ("boom", 5, 2, 0)
    assert letter.failed_at == datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)


def test_a_letter_that_was_replayed_before_tells_how_often() -> None:
    carried = ((b"_so_origin_id", b"1-1"), (b"_so_replay_of", b"2-2"), (b"_so_replay_of", b"3-3"))
    letter = letter_of(*OWN, *carried, *ABOUT)
    assert (letter.born_id, letter.origin_id, letter.replays) == (EntryId(1, 1), EntryId(5, 1), 2)
    assert republished(letter) == (
        *OWN,
        *carried[1:],
        (b"_so_origin_id", b"1-1"),
        (b"_so_replay_of", str(AT).encode()),
    )
    assert retried(letter, "orders", "a:b")[-5:] == (
        (b"_so_origin", b"orders"),
        (b"_so_origin_id", b"1-1"),
        (b"_so_group", b"a:b"),
        (b"_so_attempt", b"1"),
        (b"_so_replay_of", str(AT).encode()),
    )


@pytest.mark.parametrize(
    ("payload", "own"),
    [
        (b'{"a":"1","b":"\\u00e9"}', ((b"a", b"1"), (b"b", "é".encode()))),
        (
            b'{"n":1.50,"big":123456789012345678901234567890}',
            ((b"n", b"1.50"), (b"big", b"123456789012345678901234567890")),
        ),
        (
            b'{"x":null,"t":true,"o":{"a": [1, 2]}}',
            ((b"x", b"null"), (b"t", b"true"), (b"o", b'{"a": [1, 2]}')),
        ),
    ],
)
def test_a_letter_of_another_library_tells_its_payload_as_fields(
    payload: bytes, own: tuple[tuple[bytes, bytes], ...]
) -> None:
    letter = letter_of((b"orig_id", b"5-1"), (b"reason", b"boom"), (b"payload", payload))
    assert (letter.shape, letter.fields, letter.problem) == (DeadLetterShape.FOREIGN, own, "")
    assert (letter.origin, letter.origin_id, letter.reason) == ("orders", EntryId(5, 1), "boom")


@table(
    "payload",
    [b"", b"[1]", b'"a"', b"{", b"\xff", b"{}", b'{"a":"\\ud800"}', b"[" * 100_000, b'{"a":' * 9_999],
)
def test_foreign_that_cannot_be_taken_apart(payload: bytes) -> None:
    whole = ((b"orig_id", b"5"), (b"reason", b"boom"), (b"payload", payload))
    letter = letter_of(*whole)
    assert (letter.shape, letter.fields, letter.origin_id) == (DeadLetterShape.PLAIN, whole, None)
    assert "unchanged" in letter.problem
    assert republished(letter) == (*whole, (b"_so_replay_of", str(AT).encode()))


def test_an_entry_that_is_no_letter_is_plain() -> None:
    letter = letter_of(*OWN, (b"_so_payload", b"{orders}:payload:1"), source=None)
    assert (letter.shape, letter.origin, letter.reason) == (DeadLetterShape.PLAIN, None, "")
    assert letter.payload_key == "{orders}:payload:1"
    assert republished(letter)[:4] == (*OWN, (b"_so_payload", b"{orders}:payload:1"))


def test_numbers_and_times_that_are_none() -> None:
    letter = letter_of(
        (b"_so_deliveries", b"9" * 40),
        (b"_so_attempt", b"-1"),
        (b"_so_failed_at", b"yesterday"),
        (b"_so_origin_id", b"x"),
    )
    assert (letter.deliveries, letter.attempt, letter.origin_id) == (None, None, None)
    assert letter.failed_at == AT.time


@table("text", [b"18446744073710000000-0", b"00-0", b"1-", b"1", b"-1-1", b"1-1\n", b"\xff"])
def test_ids_that_no_server_writes_are_not_known(text: bytes) -> None:
    assert letter_of((b"_so_origin_id", text)).born_id is None
    assert letter_of((b"_so_origin_id", text), (b"_so_origin_id", b"2-2")).born_id == EntryId(2, 2)


def test_edits_replace_each_field_of_their_name_and_add_new_ones() -> None:
    assert edited(OWN, [(b"tag", b"x"), (b"new", b"")]) == (
        (b"kind", b"order"),
        (b"tag", b"x"),
        (b"tag", b"x"),
        (b"new", b""),
    )


def test_expressions_see_fields_and_facts_of_a_letter() -> None:
    letter = letter_of((b"n", b"12"), *ABOUT)
    assert dead_letter_document(letter) == {
        "id": str(AT),
        "time": "2020-09-13T12:26:40.000Z",
        "fields": {"n": "12"},
        "json": {"n": 12},
        "reason": "rejected",
        "group": "billing",
        "deliveries": 5,
        "error": "boom",
    }


@given(fields, reserved)
def test_own_fields_survive_whatever_a_letter_says(
    own: tuple[tuple[bytes, bytes], ...], about: tuple[tuple[bytes, bytes], ...]
) -> None:
    letter = letter_of(*own, *about)
    if letter.shape is not DeadLetterShape.FOREIGN:
        assert republished(letter)[: len(own)] == own
    assert msgspec.json.encode(dead_letter_document(letter)["deliveries"])
