"""Counters: what moved is counted once, what cannot be told is not, and none ever falls."""

from collections.abc import Iterable
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.model.entries import ZERO_ID
from streamops.model.observation import ALL_COUNTED, GroupCounts, StreamCounts, Uncounted
from streamops.model.streams import Consumer, ConsumerGroup, ReadError, Snapshot, StreamState
from streamops.monitor.history import MOST_AWAY, History
from tests.support.exporter.readings import counted
from tests.support.invented import (
    at,
    bounded,
    consumer,
    exact,
    group,
    minutes,
    node,
    seconds,
    snapshot,
    stream,
)

NOTHING_TOLD = Uncounted(1, 1, 1)


def orders(
    *groups: ConsumerGroup,
    added: int | None = 10,
    length: int | None = None,
    last: int | None = None,
    first: int | None = None,
    deleted: int = 0,
) -> StreamState:
    """A stream of entries numbered from one, of which the last so many are left."""
    newest = added if last is None else last
    kept = (newest or 0) if length is None else length
    return stream(
        groups=groups,
        length=kept,
        first_id=at((newest or 0) - kept + 1 if first is None else first),
        last_generated_id=at(newest or 0),
        entries_added=added,
        max_deleted_id=at(deleted) if deleted else ZERO_ID,
    )


def billing(position: int, lag: int, *, read: int | None = None, pending: int = 0) -> ConsumerGroup:
    return group(position=at(position), lag=exact(lag), entries_read=read, pending=pending)


def snapshots(*states: StreamState | None) -> list[Snapshot]:
    return [
        snapshot(*([] if state is None else [state]), at=number * seconds(15))
        for number, state in enumerate(states)
    ]


def of_stream(*states: StreamState | None) -> StreamCounts:
    return counted(*snapshots(*states)).streams["orders"].counts


def of_group(*states: StreamState | None) -> GroupCounts:
    return billing_of(counted(*snapshots(*states)))


def billing_of(history: History) -> GroupCounts:
    return history.streams["orders"].groups["billing"].counts


def told(count: GroupCounts) -> tuple[int, int, int, int]:
    return count.delivered, count.acked, count.lost, count.rewinds


def test_what_was_added_goes_on_from_the_servers_own_count() -> None:
    assert of_stream(orders(added=10)).added == 10
    assert of_stream(orders(added=10), orders(added=25)).added == 25


def test_what_was_removed_is_what_came_and_did_not_stay() -> None:
    count = of_stream(orders(added=10), orders(added=25, length=12))
    assert (count.added, count.removed) == (25, 13)


def test_on_redis_6_growth_is_counted_from_nought() -> None:
    states = [orders(added=None, last=10), orders(added=None, last=14), orders(added=None, last=14, length=3)]
    count = of_stream(*states)
    assert (count.added, count.removed) == (4, 11)


@pytest.mark.parametrize(
    ("later", "added", "removed"),
    [
        pytest.param(orders(added=None, last=12, length=11), 1, 0, id="trimmed by fewer than came"),
        pytest.param(orders(added=None, last=14, length=6), 0, 4, id="trimmed by more"),
        pytest.param(orders(added=None, last=23, length=3), 3, 10, id="of what was there nothing is left"),
        pytest.param(orders(added=None, last=8), 0, 0, id="a server that lags took over"),
        pytest.param(orders(added=None, last=3, first=1, length=3), 0, 0, id="the same, long behind"),
    ],
)
def test_on_redis_6_what_must_have_come_or_gone_is_counted(
    later: StreamState, added: int, removed: int
) -> None:
    count = of_stream(orders(added=None, last=10), later)
    assert (count.added, count.removed) == (added, removed)


@pytest.mark.parametrize(
    ("later", "added"),
    [
        pytest.param(orders(added=3, last=103, length=3), 13, id="made anew, with later entries"),
        pytest.param(orders(added=3, last=103, length=2), 12, id="the same, and trimmed since"),
        pytest.param(orders(added=0, last=0, length=0), 10, id="made anew and empty"),
        pytest.param(orders(added=8, last=8), 10, id="a server that lags took over"),
        pytest.param(orders(added=8, last=8, length=7), 10, id="the same, of a trimmed stream"),
        pytest.param(orders(added=4, last=10), 10, id="its counter was set back"),
    ],
)
def test_a_stream_that_is_not_what_it_was_adds_what_it_has_that_is_new(
    later: StreamState, added: int
) -> None:
    assert of_stream(orders(added=10), later).added == added


@pytest.mark.parametrize(
    ("later", "added", "removed"),
    [
        pytest.param(orders(added=10, last=10, length=10), 10, 4, id="a trim was lost"),
        pytest.param(orders(added=9, last=11, length=9), 10, 4, id="a trim and entries were lost"),
        pytest.param(
            orders(added=12, last=13, length=12), 12, 4, id="the same, and more have come than were lost"
        ),
        pytest.param(orders(added=9, last=11, length=5), 10, 5, id="entries were lost, and it was trimmed"),
        pytest.param(
            orders(added=9, last=12, length=2), 12, 10, id="the same, and of before nothing is left"
        ),
    ],
)
def test_what_an_older_copy_of_a_stream_has_was_counted_before(
    later: StreamState, added: int, removed: int
) -> None:
    count = of_stream(orders(added=10), orders(added=10, length=6), later)
    assert (count.added, count.removed) == (added, removed)


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(orders(added=None, last=10), id="a trim was lost"),
        pytest.param(
            orders(added=None, last=12, first=3, length=9), id="a trim was lost, and more have come"
        ),
    ],
)
def test_on_redis_6_what_an_older_copy_of_a_stream_has_was_counted_before(later: StreamState) -> None:
    count = of_stream(orders(added=None, last=10), orders(added=None, last=10, length=6), later)
    assert (count.added, count.removed) == (0, 4)


def test_what_was_removed_with_the_stream_counts_as_removed() -> None:
    count = of_stream(orders(added=10, length=6), orders(added=3, last=103, length=3))
    assert (count.added, count.removed) == (13, 6)


def test_deliveries_and_acknowledgements_are_added_up() -> None:
    count = of_group(
        orders(billing(2, 8, read=2, pending=1)),
        orders(billing(7, 3, read=7, pending=4)),
        orders(billing(12, 8, read=12, pending=0), added=20),
    )
    assert told(count) == (10, 11, 0, 0)
    assert count.uncounted is ALL_COUNTED


def test_losses_are_added_up() -> None:
    count = of_group(
        orders(billing(3, 7, read=3)),
        orders(billing(3, 2, read=3), length=2),
        orders(billing(3, 1, read=3), length=1),
    )
    assert told(count) == (0, 0, 6, 0)


def test_a_lag_of_a_later_moment_tells_nothing_of_what_was_lost() -> None:
    """Six waited when the stream was read, and thirteen when they were counted; of those, seventeen were trimmed later."""
    counted_later = billing(29, 13, read=29)
    count = of_group(
        orders(billing(15, 2, read=15), added=17),
        orders(replace(counted_later, lag=replace(counted_later.lag, later=True)), added=35, length=24),
        orders(billing(36, 14, read=36), added=67, length=14),
    )
    assert told(count) == (21, 21, 0, 0)
    assert count.uncounted == Uncounted(lost=1)


def test_a_position_set_back_is_a_rewind_and_forgets_nothing() -> None:
    count = of_group(
        orders(billing(2, 8, read=2)),
        orders(billing(6, 4, read=6)),
        orders(billing(1, 9, read=None)),
        orders(billing(1, 9, read=None)),
    )
    assert told(count) == (4, 4, 0, 1)
    assert count.uncounted == NOTHING_TOLD


def test_a_position_set_forward_delivers_nothing() -> None:
    """XGROUP SETID makes the server forget how much was read, unless it is told."""
    count = of_group(orders(billing(2, 8, read=2)), orders(billing(9, 1, read=None)))
    assert told(count) == (0, 0, 0, 0)
    assert (count.uncounted.delivered, count.uncounted.acked) == (1, 1)


@pytest.mark.parametrize(
    ("members", "delivered"),
    [
        pytest.param([consumer(idle=seconds(10), inactive=seconds(10))], 7, id="somebody got something"),
        pytest.param([consumer(idle=seconds(1), inactive=seconds(60))], 0, id="somebody asked in vain"),
        pytest.param([consumer(idle=seconds(60), inactive=None)], 0, id="nobody was there, on an old server"),
        pytest.param([], 0, id="there is nobody"),
        pytest.param(None, 7, id="who is there is not known"),
    ],
)
def test_a_position_that_moved_by_itself_was_set(members: list[Consumer] | None, delivered: int) -> None:
    """Where the server does not count what is read, the consumers tell."""
    later = group(position=at(9), lag=exact(1), members=members)
    count = of_group(orders(billing(2, 8), added=None, last=10), orders(later, added=None, last=10))
    assert count.delivered == delivered
    assert count.uncounted.delivered == (0 if delivered else 1)


def test_a_deleted_entry_ahead_does_not_keep_deliveries_from_being_counted() -> None:
    """It makes the server forget the same, and all that was given out was given out."""
    count = of_group(
        orders(billing(2, 8, read=2), deleted=9), orders(billing(6, 4, read=None, pending=1), deleted=9)
    )
    assert told(count)[:2] == (4, 3)


def test_what_was_pending_when_a_group_was_destroyed_is_not_acknowledged() -> None:
    count = of_group(
        orders(billing(6, 4, read=6, pending=0)),
        orders(billing(8, 2, read=8, pending=2)),
        # Destroyed, made anew where it was, and not read since: before the next reading.
        orders(billing(8, 2, read=None, pending=0)),
        orders(billing(9, 1, read=9, pending=0)),
    )
    assert told(count)[:2] == (2 + 1, 0 + 1)
    assert count.uncounted.acked == 1


def test_a_group_that_was_seen_to_be_gone_begins_again_with_what_it_had() -> None:
    count = of_group(
        orders(billing(2, 8, read=2)),
        orders(billing(8, 2, read=8, pending=5)),
        orders(),
        orders(billing(0, 10, read=0)),
        orders(billing(3, 7, read=3)),
    )
    assert told(count) == (6 + 3, 1 + 3, 0, 0)
    assert count.uncounted == NOTHING_TOLD


def test_a_group_out_of_sight_for_a_reason_goes_on_as_if_it_had_been_seen() -> None:
    seen, unseen, again = snapshots(
        orders(billing(2, 8, read=2)), orders(), orders(billing(8, 7, read=8), added=15)
    )
    blind = replace(unseen, gaps=(ReadError("no permission", "orders", "billing"),))
    assert told(billing_of(counted(seen, blind, again))) == (6, 6, 0, 0)


def test_entries_that_came_while_a_group_was_out_of_sight_are_counted_once() -> None:
    """The group's own last reading is what its deliveries are counted from, not the stream's."""
    seen, unseen, again = snapshots(orders(billing(2, 8)), orders(added=15), orders(billing(8, 12), added=20))
    blind = replace(unseen, gaps=(ReadError("no permission", "orders", "billing"),))
    history = counted(seen, blind, again)
    assert billing_of(history).delivered == 6


def test_groups_of_a_stream_made_anew_keep_what_they_had() -> None:
    count = of_group(
        orders(billing(2, 8, read=2)),
        orders(billing(8, 2, read=8)),
        orders(billing(101, 2, read=1), added=3, last=103, length=3),
        orders(billing(103, 0, read=3), added=3, last=103, length=3),
    )
    assert told(count) == (6 + 2, 6 + 2, 0, 0)
    assert count.uncounted == NOTHING_TOLD


@pytest.mark.parametrize("gaps", [[], [ReadError("timed out")], [ReadError("timed out", "orders")]])
def test_what_is_away_is_remembered_for_a_quarter_of_an_hour(gaps: Iterable[ReadError]) -> None:
    before = [
        snapshot(orders(billing(2, 8, read=2))),
        snapshot(orders(billing(8, 2, read=8)), at=seconds(15)),
    ]
    gone = [snapshot(at=minutes(1), gaps=gaps), snapshot(at=minutes(15), gaps=gaps)]
    kept = counted(*before, *gone, snapshot(orders(billing(9, 1, read=9)), at=minutes(15.1)))
    assert told(billing_of(kept)) == (7, 7, 0, 0)
    forgotten = counted(*before, *gone, snapshot(at=minutes(15.3), gaps=gaps))
    assert (forgotten.streams, forgotten.away) == ({}, {})


def test_names_that_come_and_go_do_not_pile_up() -> None:
    counters: History | None = None
    for number in range(3):
        names = [stream(f"s{number}-{one}") for one in range(MOST_AWAY // 2 + 1)]
        counters = counted(snapshot(*names, at=seconds(number)), since=counters)
    counters = counted(snapshot(at=seconds(4)), since=counters)
    assert len(counters.away) == MOST_AWAY
    assert {name.split("-")[0] for name in counters.away} == {"s1", "s2"}


def test_lags_that_are_not_known_are_told_as_readings_not_counted() -> None:
    unknown = group(position=at(5), lag=bounded(0, 9), entries_read=None)
    count = of_group(
        orders(replace(unknown, last_delivered_id=at(2)), added=None, last=10),
        orders(unknown, added=None, last=10),
    )
    assert told(count) == (0, 0, 0, 0)
    assert (count.uncounted.delivered, count.uncounted.acked) == (1, 1)


def totals(history: History) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for name, stream_history in history.streams.items():
        count = stream_history.counts
        found |= {(name, "added"): count.added, (name, "removed"): count.removed}
        for group_name, group_history in stream_history.groups.items():
            one = group_history.counts
            for what in ("delivered", "acked", "lost", "rewinds"):
                found[name, group_name, what] = getattr(one, what)
            for what in ("delivered", "acked", "lost"):
                found[name, group_name, "uncounted", what] = getattr(one.uncounted, what)
    return found


small = st.integers(0, 6)
mad_groups = st.builds(
    lambda name, position, read, pending, lag: group(
        name,
        position=at(position),
        entries_read=read,
        pending=pending,
        lag=bounded(0, 9) if lag is None else exact(lag),
    ),
    st.sampled_from(["billing", "audit"]),
    small,
    st.none() | small,
    small,
    st.none() | small,
)
mad_streams = st.builds(
    lambda groups, added, length, last, first, deleted: orders(
        *groups, added=added, length=length, last=last, first=first, deleted=deleted
    ),
    st.lists(mad_groups, max_size=2, unique_by=lambda one: one.name),
    *(st.none() | small, small, small, small, small),
)
mad_gaps = st.sampled_from(
    [(), (ReadError("timed out"),), (ReadError("no permission", "orders", "billing"),)]
)


@given(st.lists(st.tuples(st.none() | mad_streams, mad_gaps), max_size=8))
def test_no_counter_ever_falls(steps: list[tuple[StreamState | None, tuple[ReadError, ...]]]) -> None:
    """Whatever a server says, and in whatever order: also of what was gone for a while."""
    counters, highest = None, dict[tuple[str, ...], int]()
    for number, (state, gaps) in enumerate(steps):
        states = [] if state is None else [state]
        counters = counted(snapshot(*states, at=number * minutes(1), gaps=gaps), since=counters)
        for key, value in totals(counters).items():
            assert value >= highest.get(key, 0)
            highest[key] = value


class Server(NamedTuple):
    """A stream on a server that counts, or not; entries are told by numbers."""

    entries: tuple[int, ...] = ()
    last: int = 0
    added: int = 0

    def state(self, *, counts: bool) -> StreamState:
        return stream(
            length=len(self.entries),
            first_id=at(self.entries[0]) if self.entries else None,
            last_generated_id=at(self.last),
            entries_added=self.added if counts else None,
            max_deleted_id=ZERO_ID if counts else None,
        )


steps = st.tuples(
    st.sampled_from(("add", "trim", "fail over", "make anew")), st.integers(1, 4), st.booleans()
)


@given(history=st.lists(steps, max_size=30), counts=st.booleans())
@example(history=[("add", 3, True), ("trim", 1, True), ("fail over", 1, True)], counts=True)
def test_whichever_copy_takes_over_nothing_is_counted_that_was_not_done(
    *, history: list[tuple[str, int, bool]], counts: bool
) -> None:
    """Replicas lag by some steps: what comes back with one was added, and what is lost with it was removed."""
    added = removed = 0
    copies = [Server()]
    counters = counted(snapshot(copies[-1].state(counts=counts)))
    for clock, (step, number, scraped) in enumerate(history, 1):
        before = copies[-1]
        match step:
            case "add":
                new = tuple(range(clock * 10, clock * 10 + number))
                copies.append(Server((*before.entries, *new), new[-1], before.added + number))
            case "trim":
                copies.append(before._replace(entries=before.entries[number:]))
            case "fail over":
                copies = copies[: max(1, len(copies) - number)]
            case _:
                copies = [Server()]
        now = copies[-1]
        added += len(set(now.entries).difference(before.entries))
        removed += len(set(before.entries).difference(now.entries))
        if scraped:
            counters = counted(snapshot(now.state(counts=counts), at=clock * seconds(15)), since=counters)
        count = counters.streams["orders"].counts
        assert (count.added <= added, count.removed <= removed) == (True, True)


moves = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 5)),
        st.tuples(st.just("read"), st.integers(1, 5)),
        st.tuples(st.just("ack"), st.integers(1, 5)),
        st.tuples(st.just("trim"), st.integers(0, 5)),
        st.tuples(st.just("scrape"), st.just(0)),
    ),
    max_size=40,
)


@given(moves)
def test_in_a_sane_world_everything_is_counted(steps: list[tuple[str, int]]) -> None:
    """A stream, a group, and a server that counts well: nothing is missed, and nothing is counted twice."""
    added = position = pending = delivered = acked = lost = 0
    first, counters, now = 1, counted(snapshot(orders(billing(0, 0, read=0), added=0, length=0))), 0

    def scrape() -> None:
        nonlocal counters, now
        now += 15
        waiting = added - max(position, first - 1)
        state = orders(
            billing(position, waiting, read=delivered, pending=pending), added=added, length=added - first + 1
        )
        counters = counted(snapshot(state, at=seconds(now), nodes=[node()]), since=counters)

    for what, number in steps:
        match what:
            case "add":
                added += number
            case "read":
                begin = max(position, first - 1)
                given_out = min(number, added - begin)
                if given_out:
                    position, delivered, pending = (
                        begin + given_out,
                        delivered + given_out,
                        pending + given_out,
                    )
            case "ack":
                done = min(number, pending)
                pending, acked = pending - done, acked + done
            case "trim":
                kept = max(first, added - number + 1)
                lost += max(0, kept - 1 - max(position, first - 1))
                first = kept
            case _:
                scrape()
    scrape()
    count = counters.streams["orders"].counts
    assert (count.added, count.removed) == (added, first - 1)
    assert told(billing_of(counters)) == (delivered, acked, lost, 0)
    assert billing_of(counters).uncounted is ALL_COUNTED
