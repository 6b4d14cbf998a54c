"""The consumers of a group by instants: the same as the consumers with their ages, whoever looks at them how."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from streamops.model.streams import MILLISECOND, Consumer, ConsumerColumns, Members
from tests.support import strategies as some
from tests.support.invented import minutes, seconds

NOW = 1_700_000_000_000
NO_TIME = timedelta(0)


def consumers() -> st.SearchStrategy[list[Consumer]]:
    """Consumers with ages in whole milliseconds, as servers tell them."""
    ages = st.one_of(st.integers(0, 1000), st.integers(0, NOW)).map(lambda ms: ms * MILLISECOND)
    pending = st.integers(0, 3)
    return st.lists(
        st.builds(Consumer, some.names(), pending, ages, st.none() | ages, oldest_delivered=st.none() | ages)
    )


@given(consumers())
def test_they_are_the_consumers_that_they_were_made_of(those: list[Consumer]) -> None:
    members = Members.of(those, NOW)
    assert list(members) == those
    assert members == tuple(those)
    assert tuple(those) == members
    assert hash(members) == hash(tuple(those))
    assert repr(members) == repr(tuple(those))
    assert (len(members), bool(members)) == (len(those), bool(those))
    assert members[1:] == tuple(those[1:])
    assert [members[at] for at in range(len(those))] == those
    assert Members.of(members, NOW + 1) is members


@given(consumers())
def test_what_rules_ask_of_all_of_them_is_what_the_ages_say(those: list[Consumer]) -> None:
    members = Members.of(those, NOW)
    fed = [one.idle if one.inactive is None else one.inactive for one in those]
    held = [one.idle for one in those if one.pending]
    assert members.fed_ago == min(fed, default=None)
    assert members.holders_seen_ago == min(held, default=None)
    for limit in (NO_TIME, seconds(1), minutes(10), *(one.idle for one in those)):
        assert members.idle_within(limit / MILLISECOND) == all(one.idle < limit for one in those)


@given(st.data(), consumers())
def test_some_of_them_are_those_at_their_places(data: st.DataObject, those: list[Consumer]) -> None:
    places = data.draw(st.lists(st.sampled_from(range(len(those))), unique=True)) if those else []
    chosen = ConsumerColumns.of(those, NOW).only(sorted(places))
    assert Members(chosen, NOW) == [those[at] for at in sorted(places)]


def test_they_grow_older_while_nobody_is_seen() -> None:
    told = ConsumerColumns(("w",), (1,), (NOW,), (NOW - 5,), (NOW - 9,))
    (later,) = Members(told, NOW + 1_500)
    assert later == Consumer("w", 1, seconds(1.5), seconds(1.505), None, seconds(1.509))


def test_a_consumer_seen_in_the_future_was_seen_now() -> None:
    told = ConsumerColumns(("w",), (1,), (NOW + 1,), (NOW + 1,), (NOW + 1,))
    assert Members(told, NOW) == [Consumer("w", 1, NO_TIME, NO_TIME, None, NO_TIME)]
    assert Members(told, NOW).fed_ago == NO_TIME
