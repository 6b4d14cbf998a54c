"""What trimming does on which server. The versions with ACKED were not there to be tried: their notes say so."""

import pytest

from streamops.analysis.trimming import (
    acked_is_sound,
    lag_after_overtaking,
    trim_delref_is_sound,
    unread_below,
    xdelex_is_sound,
)
from streamops.model.acts.groups import Amount
from streamops.model.ids import EntryId
from streamops.model.readings import StreamReading
from streamops.model.server import Flavour, ServerNode


def node(flavour: Flavour, *version: int) -> ServerNode:
    major, minor, patch = version
    return ServerNode("a", flavour, (major, minor, patch), "master", (), None, None, "", None)


def redis(*version: int) -> ServerNode:
    return node(Flavour.REDIS, *version)


@pytest.mark.parametrize(
    ("version", "approximate", "exact"),
    [
        ((6, 2, 14), False, False),
        ((8, 0, 6), False, False),
        ((8, 2, 0), False, False),
        ((8, 2, 2), False, False),
        ((8, 2, 3), False, True),
        ((8, 2, 6), False, True),
        ((8, 2, 7), True, True),
        ((8, 4, 0), False, True),
        ((8, 4, 3), False, True),
        ((8, 4, 4), True, True),
        ((8, 6, 0), True, True),
        ((8, 10, 1), True, True),
    ],
)
def test_acked_is_used_where_it_is_sound(
    version: tuple[int, int, int], *, approximate: bool, exact: bool
) -> None:
    assert acked_is_sound([redis(*version)]) == (approximate, exact)
    # A trim that takes the pending rows along does so in both forms; deleting has but one.
    assert trim_delref_is_sound([redis(*version)]) == approximate
    assert xdelex_is_sound([redis(*version)]) == exact


def test_acked_is_not_used_where_one_node_is_not_sound_or_not_known() -> None:
    assert acked_is_sound([]) == (False, False)
    assert acked_is_sound([redis(8, 6, 0), redis(8, 2, 3)]) == (False, True)
    assert acked_is_sound([redis(8, 6, 0), node(Flavour.VALKEY, 9, 1, 0)]) == (False, False)


@pytest.mark.parametrize(
    "nodes",
    [[], [redis(8, 6, 0), redis(8, 2, 2)], [redis(8, 6, 0), node(Flavour.VALKEY, 9, 1, 0)]],
    ids=["none", "one too old", "one Valkey"],
)
def test_neither_are_references_removed_there(nodes: list[ServerNode]) -> None:
    assert not trim_delref_is_sound(nodes)
    assert not xdelex_is_sound(nodes)


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
