"""Entry traces: what is said of what was found about an entry, and of what is not known."""

from streamops.model.dead_letters import read_dead_letter
from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.model.entries import EntryId, PendingEntry, StreamEntry
from streamops.monitor.entry_trace import (
    LAST_OWNER,
    NO_ACKS,
    InGroup,
    TraceEvent,
    TraceKind,
    acted_on,
    added,
    dead_lettered,
    gone,
    in_group,
    never_known,
    origin_of,
    replayed,
    retry,
    waiting_retry,
)
from tests.support.invented import NOW, entry_id, minutes, seconds
from tests.support.tables import table

ID = entry_id(minutes(10))
ENTRY = StreamEntry(ID, ((b"a", b"1"),))
DEAD = read_dead_letter(
    StreamEntry(
        entry_id(minutes(5)),
        ((b"a", b"1"), (b"_so_origin_id", str(ID).encode()), (b"_so_group", b"g"), (b"_so_reason", b"timeout")),
    ),
    "orders:dlq",
    "orders",
)  # fmt: skip
COPY = StreamEntry(
    entry_id(), ((b"_so_origin_id", str(ID).encode()), (b"_so_replay_of", str(DEAD.id).encode()))
)


def of_group(group: InGroup, *, died: bool = False) -> list[TraceEvent]:
    return list(in_group(ID, group, NOW, dead_lettered=died))


def test_an_entry_was_added_when_its_id_says() -> None:
    (event,) = added("orders", ENTRY)
    assert event == TraceEvent(TraceKind.ADDED, "added to orders: 1 field, 2 bytes", ID.time)


@table(
    ("first", "last", "text"),
    [
        (None, entry_id(minutes(20)), "was never in orders: its highest ID so far is"),
        (entry_id(minutes(20)), None, "it was deleted, or never added"),
        (entry_id(minutes(5)), None, "it was trimmed or deleted, or never added"),
        (None, None, "it was trimmed or deleted, or never added"),
    ],
)
def test_no_more_is_said_of_what_is_gone_than_the_ids_tell(
    first: EntryId | None, last: EntryId | None, text: str
) -> None:
    event = gone("orders", ID, first, last)
    assert event.kind is TraceKind.GONE
    assert text in event.text


@table(
    ("group", "kind", "text"),
    [
        (InGroup(group="g", position=entry_id(minutes(20))), TraceKind.WAITING, "g: not delivered yet"),
        (InGroup(group="g", position=ID), TraceKind.DONE, "g: not pending: acknowledged, or passed over by a new position of the group"),
        (
            InGroup(group="g", position=ID, row=PendingEntry(ID, "w", seconds(90), 3)),
            TraceKind.PENDING,
            "g: pending with w, delivered 3 times, the last 1 min ago",
        ),
        (
            InGroup(group="g", position=ID, row=PendingEntry(ID, "w", seconds(0.4), 1)),
            TraceKind.PENDING,
            "g: pending with w, delivered 1 time, the last less than a second ago",
        ),
        (InGroup(group="g", position=ID, problem="NOPERM"), TraceKind.WAITING, "g: could not be asked: NOPERM"),
    ],
)  # fmt: skip
def test_each_group_stands_to_it_in_one_way(group: InGroup, kind: TraceKind, text: str) -> None:
    (event,) = of_group(group)
    assert event.kind is kind
    assert event.text.startswith(text)


def test_a_group_with_a_dead_letter_gave_it_up() -> None:
    done, marked = of_group(InGroup(group="g", position=ID, marks=2), died=True)
    assert done.text == "g: not pending: dead-lettered"
    assert (marked.kind, "2 starts were marked" in marked.text) == (TraceKind.MARKED, True)


def test_only_what_could_have_been_known_is_called_unknown() -> None:
    waiting = InGroup(group="g", position=entry_id(minutes(20)))
    once = InGroup(group="g", position=ID, row=PendingEntry(ID, "w", seconds(9), 1))
    twice = InGroup(group="g", position=ID, row=PendingEntry(ID, "w", seconds(9), 2))
    done = InGroup(group="g", position=ID)
    expected = {(waiting, once): [], (twice,): [LAST_OWNER], (done,): [NO_ACKS, LAST_OWNER]}
    for groups, unknown in expected.items():
        events = [event for group in groups for event in of_group(group)]
        assert list(never_known(events, groups)) == unknown


def test_a_replay_names_its_dead_letter_and_its_origin() -> None:
    assert origin_of(COPY) == ID
    _, again = added("orders", COPY)
    assert again.text == f"it is a replay of dead letter {DEAD.id}, first added as entry {ID}"


def test_from_a_retry_to_its_replay() -> None:
    message = DelayedMessage("m", NOW, DelayedBody("r", (), "g", 2, str(ID)))
    said = {
        acted_on("claim of orders/g by ada@desk", PendingEntry(ID, "w", seconds(60), 4), NOW): (
            "claim of orders/g by ada@desk: before it, pending with w, delivered 4 times, idle for 1 min"
        ),
        waiting_retry(message): "a retry for g, attempt 2 waits in the delayed queue as m",
        retry("{orders}:retry:g", "g", ENTRY): f"a retry for g is in {{orders}}:retry:g as {ID}",
        dead_lettered(
            DEAD
        ): f"g dead-lettered it (timeout); the entry is now {DEAD.id} in the dead-letter queue orders:dlq",
        replayed("orders", COPY): f"replayed as {COPY.id}, from dead letter {DEAD.id}",
    }
    assert {event: event.text for event in said} == said
