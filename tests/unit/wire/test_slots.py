"""CLUSTER SLOTS, decoded."""

from redis.crc import key_slot

from streamops.wire.cluster import SlotMap, SlotRange, decode_slots

LAST_SLOT = 16383


def test_ranges_and_their_primaries() -> None:
    reply = [
        [5461, LAST_SLOT, [b"10.0.0.2", 7001, b"id-2"], [b"10.0.0.9", 7009, b"id-9"]],
        [0, 5460, [b"10.0.0.1", 7000, b"id-1", [b"hostname", b"one"]]],
    ]
    slots = decode_slots(reply, "10.0.0.1")
    assert slots.primaries == (("10.0.0.1", 7000), ("10.0.0.2", 7001))
    for key in (b"orders", b"payments", b"{tag}:a", b"", b"\xff"):
        expected = ("10.0.0.1", 7000) if key_slot(key) <= 5460 else ("10.0.0.2", 7001)
        assert slots.primary_of(key) == expected


def test_every_slot_of_a_range_is_served_and_none_beside_it() -> None:
    slot = key_slot(b"orders")
    only = SlotMap([SlotRange(slot, slot, ("h", 1))])
    assert only.primary_of(b"orders") == ("h", 1)
    assert SlotMap([SlotRange(0, slot - 1, ("h", 1))]).primary_of(b"orders") is None
    assert SlotMap([SlotRange(slot + 1, LAST_SLOT, ("h", 1))]).primary_of(b"orders") is None
    assert SlotMap().primary_of(b"orders") is None


def test_an_address_that_another_node_has_by_now_is_another_map() -> None:
    def read(ident: bytes, port: int = 7000) -> list[SlotRange]:
        return decode_slots([[0, LAST_SLOT, [b"10.0.0.1", port, ident]]], "10.0.0.1").ranges

    assert read(b"one") == read(b"one")
    assert read(b"one") != read(b"two")
    assert read(b"one") != read(b"one", 7001)


def test_node_that_does_not_know_its_own_name_is_the_one_asked() -> None:
    for nameless in (None, b"", b"?"):
        reply = [[0, LAST_SLOT, [nameless, 7000, b"id"]]]
        assert decode_slots(reply, "seed.example.org").primaries == (("seed.example.org", 7000),)
