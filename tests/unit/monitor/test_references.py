from streamops.model.entries import EntryId, StreamEntry
from streamops.model.streams import StreamRole
from streamops.resources.entries import Reference, ReferenceKind, references_of


def entry(*fields: tuple[bytes, bytes]) -> StreamEntry:
    return StreamEntry(EntryId(9, 0), fields)


def test_an_entry_without_references_has_none() -> None:
    assert references_of(entry((b"type", b"placed")), "orders") == ()


def test_a_payload_kept_beside_the_stream() -> None:
    found = references_of(entry((b"_so_payload", b"{orders}:payload:ab")), "orders")
    assert [(one.kind, one.key) for one in found] == [(ReferenceKind.PAYLOAD, "{orders}:payload:ab")]


def test_a_key_that_is_no_payload_beside_the_stream_is_no_reference() -> None:
    for key in (b"{payments}:payload:ab", b"secret", b"{orders}:done:g:1", b""):
        assert references_of(entry((b"_so_payload", key)), "orders") == ()


def test_a_dead_letter_leads_to_the_entry_that_died_and_to_the_one_it_was_born_as() -> None:
    letter = entry(
        (b"type", b"placed"),
        (b"_so_origin_id", b"3-0"),
        (b"_so_origin", b"orders"),
        (b"_so_origin_id", b"5-0"),
        (b"_so_group", b"billing"),
        (b"_so_reason", b"timeout"),
    )
    died, born = references_of(letter, "orders:dlq", StreamRole.DEAD_LETTERS, "orders")
    assert (died.stream, died.id) == ("orders", EntryId(5, 0))
    assert died.words == "the entry that was dead-lettered, by group billing: timeout"
    assert (born.stream, born.id) == ("orders", EntryId(3, 0))


def test_a_foreign_letter_leads_to_its_origin_by_the_queue() -> None:
    letter = entry((b"orig_id", b"7-1"), (b"reason", b"boom"), (b"payload", b'{"a": "b"}'))
    (died,) = references_of(letter, "orders:dlq", StreamRole.DEAD_LETTERS, "orders")
    assert (died.stream, died.id) == ("orders", EntryId(7, 1))


def test_a_retry_leads_to_what_it_is_an_attempt_of() -> None:
    retry = entry((b"type", b"placed"), (b"_so_origin_id", b"5-0"), (b"_so_attempt", b"3"))
    (origin,) = references_of(retry, "{orders}:retry:billing", StreamRole.RETRY, "orders")
    assert origin == Reference(
        kind=ReferenceKind.ORIGIN,
        words="the entry that this is attempt 3 of",
        stream="orders",
        id=EntryId(5, 0),
    )


def test_a_replayed_entry_leads_to_its_letters() -> None:
    replayed = entry((b"_so_replay_of", b"1-0"), (b"_so_replay_of", b"2-0"))
    assert [one.id for one in references_of(replayed, "orders", queue="orders:dlq")] == [
        EntryId(1, 0),
        EntryId(2, 0),
    ]
    assert references_of(replayed, "orders") == ()


def test_what_is_no_id_and_what_names_no_stream_is_no_reference() -> None:
    assert references_of(entry((b"_so_origin_id", b"x"), (b"_so_origin", b"orders")), "orders") == ()
    assert references_of(entry((b"_so_origin_id", b"5-0")), "orders") == ()
