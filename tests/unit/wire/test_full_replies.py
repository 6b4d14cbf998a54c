"""Replies of XINFO STREAM FULL that come again: the same one gives the same reading, any other one its own."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streamops.model.streams import ConsumerColumns, Delivery, StreamReading
from streamops.wire.full_replies import FullDecoder, KnownReply

TIME = [b"1700000000", b"0"]
BEGUN = 1_690_000_000_000
NAMES = st.sampled_from([b"a", b"b", b"w\xff"])
SMALL = st.integers(0, 3)
INSTANTS = st.integers(BEGUN, BEGUN + 3)
IDS = st.builds(lambda ms, seq: b"%d-%d" % (ms, seq), INSTANTS, SMALL)


def flat(**fields: Any) -> list[Any]:
    """Names and values in turns, as RESP2 has them."""
    return [part for name, value in fields.items() for part in (name.replace("_", "-").encode(), value)]


@st.composite
def consumers(draw: st.DrawFn, *, young: bool) -> list[Any]:
    rows = draw(st.lists(st.tuples(IDS, INSTANTS, SMALL).map(list), max_size=1))
    times = {"active_time": draw(st.sampled_from([-1, BEGUN, BEGUN + 1]))} if young else {}
    return flat(
        name=draw(NAMES),
        seen_time=draw(INSTANTS),
        **times,
        pel_count=draw(SMALL),
        pending=rows,
    )


@st.composite
def groups(draw: st.DrawFn, *, young: bool) -> list[Any]:
    rows = draw(st.lists(st.tuples(IDS, NAMES, INSTANTS, SMALL).map(list), max_size=1))
    return flat(
        name=draw(NAMES),
        last_delivered_id=draw(IDS),
        entries_read=draw(st.none() | SMALL),
        lag=draw(st.none() | SMALL),
        pel_count=draw(SMALL),
        pending=rows,
        consumers=draw(st.lists(consumers(young=young), max_size=2)),
    )


@st.composite
def replies(draw: st.DrawFn) -> list[Any]:
    """What servers before and since 7.2 say."""
    young = draw(st.booleans())
    entry = st.tuples(IDS, st.lists(NAMES, min_size=2, max_size=2)).map(list)
    return flat(
        length=draw(SMALL),
        radix_tree_keys=draw(SMALL),
        last_generated_id=draw(IDS),
        max_deleted_entry_id=draw(IDS),
        entries_added=draw(SMALL),
        entries=draw(st.lists(entry, max_size=1)),
        groups=draw(st.lists(groups(young=young), max_size=2)),
    )


def places(reply: list[Any], within: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The places of all values of a reply, and of lists that may lose a row; names of fields stay as they are."""
    named = bool(reply) and reply[0] in (b"length", b"name")
    for at in range(1 if named else 0, len(reply), 2 if named else 1):
        inside = reply[at]
        if isinstance(inside, list):
            yield from places(inside, (*within, at))
        if not isinstance(inside, list) or all(isinstance(row, list) for row in inside):
            yield (*within, at)


def with_another(reply: list[Any], place: tuple[int, ...]) -> list[Any]:
    """The reply with another value in one place: one more, one less, or another one."""
    changed = deepcopy(reply)
    inner = changed
    for at in place[:-1]:
        inner = inner[at]
    inner[place[-1]] = other(inner[place[-1]])
    return changed


def other(value: Any) -> Any:  # noqa: ANN401 - whatever stands in a reply
    if isinstance(value, list):
        return value[:-1]
    if isinstance(value, bytes):
        ms, dash, seq = value.partition(b"-")
        return b"%s-%d" % (ms, int(seq) + 1) if dash else value + b"+"
    return 7 if value is None else value + 1


def decoded(*sequence: list[Any]) -> list[StreamReading]:
    """The readings of replies for one stream, each from the next pass of a reader that remembers."""
    readings, before = [], dict[str, KnownReply]()
    for reply in sequence:
        told: dict[str, KnownReply] = {}
        decoder = FullDecoder(before, told)
        decoder.hear_time(TIME)
        readings.append(decoder.decode("orders", deepcopy(reply)))
        before = told
    return readings


@given(replies(), replies())
def test_every_reply_is_read_as_if_none_had_come_before(one: list[Any], two: list[Any]) -> None:
    assert decoded(one, two, two, one) == [*decoded(one), *decoded(two), *decoded(two), *decoded(one)]


@given(st.data(), replies())
def test_a_change_in_any_place_is_seen(data: st.DataObject, reply: list[Any]) -> None:
    changed = with_another(reply, data.draw(st.sampled_from(sorted(places(reply)))))
    first, again, after = decoded(reply, reply, changed)
    assert again is first
    assert [after] == decoded(changed)
    if changed != reply:
        assert after is not first


def test_nothing_is_remembered_of_a_reader_without_a_clock() -> None:
    reply = flat(
        length=0,
        entries=[],
        last_generated_id=b"0-0",
        groups=[flat(name=b"g", last_delivered_id=b"0-0", pel_count=0, pending=[], consumers=[])],
    )
    told: dict[str, KnownReply] = {}
    reading = FullDecoder({}, told).decode("orders", reply)
    assert not told
    assert reading.groups[0].members is None
    (timed,) = decoded(reply)
    assert timed.groups[0].members == ConsumerColumns()


def test_instants_are_told_as_the_server_tells_them() -> None:
    row = [b"5-0", b"w", BEGUN, 2]
    worker = flat(name=b"w", seen_time=BEGUN + 2, active_time=-1, pel_count=1, pending=[[b"5-0", BEGUN, 2]])
    group = flat(name=b"g", last_delivered_id=b"5-0", pel_count=1, pending=[row], consumers=[worker])
    (reading,) = decoded(flat(length=1, entries=[], last_generated_id=b"5-0", groups=[group]))
    (told,) = reading.groups
    assert told.members == ConsumerColumns(("w",), (1,), (BEGUN + 2,), (None,), (BEGUN,))
    assert told.oldest_delivery == Delivery(told.last_delivered_id, "w", BEGUN, 2)
