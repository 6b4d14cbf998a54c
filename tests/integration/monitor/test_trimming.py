"""What trimming does on which server."""

import pytest

from streamops.model.entries import Amount, EntryId
from streamops.model.streams import Flavour, ServerNode, StreamReading
from streamops.operations.trim.survey import lag_after_overtaking, unread_below
from streamops.wire.writes.entries import references_are_sound


def node(flavour: Flavour, *version: int) -> ServerNode:
    major, minor, patch = version
    return ServerNode("a", flavour, (major, minor, patch), "master", (), None, None, "", None)


def redis(*version: int) -> ServerNode:
    return node(Flavour.REDIS, *version)


@pytest.mark.parametrize(
    ("nodes", "sound"),
    [
        ([], False),
        ([redis(8, 0, 6)], False),
        ([redis(8, 2, 2)], False),
        ([redis(8, 2, 3)], True),
        ([redis(8, 4, 0), redis(8, 2, 3)], True),
        ([redis(8, 2, 3), redis(8, 2, 2)], False),
        ([redis(8, 2, 3), node(Flavour.VALKEY, 9, 1, 0)], False),
    ],
)
def test_references_are_used_where_every_node_is_sound(nodes: list[ServerNode], *, sound: bool) -> None:
    assert references_are_sound(nodes) == sound


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (redis(6, 2, 14), ""),
        (redis(7, 0, 15), "stay too high"),
        (redis(7, 4, 3), "stay too high"),
        (redis(7, 4, 4), ""),
        (redis(8, 0, 0), ""),
        (node(Flavour.VALKEY, 8, 1, 1), "until the group reads on"),
    ],
)
def test_what_overtaking_does_to_the_lag(server: ServerNode, words: str) -> None:
    told = lag_after_overtaking([server])
    assert words in told
    assert bool(told) == bool(words)


@pytest.mark.parametrize(
    ("position", "cut", "removable", "loss"),
    [
        (70, 61, Amount(60, 60), Amount(0, 0)),
        (100, 500, Amount(100, 100), Amount(0, 0)),
        (0, 61, Amount(60, 60), Amount(60, 60)),
        (0, 61, Amount(20, 80), Amount(20, 80)),
        (30, 61, Amount(60, 60), Amount(0, 59)),
        (30, 61, Amount(50, 65), Amount(0, 64)),
    ],
    ids=["beyond", "at the end", "at the start", "at the start of what is not known", "within", "both"],
)
def test_a_position_tells_what_its_group_loses_only_outside_of_what_goes(
    position: int, cut: int, removable: Amount, loss: Amount
) -> None:
    """A hundred entries 1-0 to 100-0."""
    stream = StreamReading("s", 100, (), bounds_read=True, first_id=EntryId(1, 0), last_id=EntryId(100, 0))
    assert unread_below(stream, EntryId(position, 0), EntryId(cut, 0), removable) == loss


def test_where_it_is_not_known_where_a_stream_begins_any_of_it_may_be_lost() -> None:
    stream = StreamReading("s", 100, ())
    assert unread_below(stream, EntryId(0, 0), EntryId(61, 0), Amount(60, 60)) == Amount(0, 60)
