"""Stories: from what was found about an entry to what is said of it, and of what is not known."""

from typing import Any

import pytest

from streamops.analysis.letters import read_letter
from streamops.analysis.stories import LAST_OWNER, NO_ACKS, born_as, tell_story
from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.model.entries import Entry, PendingEntry
from streamops.model.stories import Acted, InGroup, Story, StoryFacts, StoryKind
from tests.support.invented import NOW, entry_id, minutes, seconds

ID = entry_id(minutes(10))
ENTRY = Entry(ID, ((b"a", b"1"),))


def told(**facts: Any) -> Story:
    return tell_story(StoryFacts(**{"stream": "orders", "id": ID, "entry": ENTRY, "now": NOW, **facts}))


def said(story: Story) -> list[tuple[StoryKind, str]]:
    return [(event.kind, event.text) for event in story.events]


def test_an_entry_that_nothing_happened_to_was_added() -> None:
    story = told()
    assert said(story) == [(StoryKind.ADDED, "added to orders: 1 field, 2 bytes")]
    assert story.events[0].at == ID.time
    assert story.unknown == ()


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"last_generated_id": entry_id(minutes(20))}, "never was in orders: its highest ID so far is"),
        ({"first_id": entry_id(minutes(20))}, "it was deleted, or never was there"),
        ({"first_id": entry_id(minutes(5))}, "it was trimmed or deleted, or never was there"),
        ({}, "it was trimmed or deleted, or never was there"),
    ],
)
def test_no_more_is_said_of_what_is_gone_than_the_ids_tell(facts: dict[str, Any], text: str) -> None:
    ((kind, words),) = said(told(entry=None, **facts))
    assert kind is StoryKind.GONE
    assert text in words


@pytest.mark.parametrize(
    ("group", "kind", "text"),
    [
        (InGroup(group="g", position=entry_id(minutes(20))), StoryKind.WAITING, "g: not delivered yet"),
        (InGroup(group="g", position=ID), StoryKind.DONE, "g: not pending: acknowledged, or the group was set past it"),
        (
            InGroup(group="g", position=ID, row=PendingEntry(ID, "w", seconds(90), 3)),
            StoryKind.PENDING,
            "g: pending with w, delivered 3 times, the last 1 min ago",
        ),
        (
            InGroup(group="g", position=ID, row=PendingEntry(ID, "w", seconds(0.4), 1)),
            StoryKind.PENDING,
            "g: pending with w, delivered 1 time, the last less than a second ago",
        ),
        (InGroup(group="g", position=ID, problem="NOPERM"), StoryKind.WAITING, "g: could not be asked: NOPERM"),
    ],
)  # fmt: skip
def test_each_group_stands_to_it_in_one_way(group: InGroup, kind: StoryKind, text: str) -> None:
    _, (found, words) = said(told(groups=(group,)))
    assert found is kind
    assert words.startswith(text)


def test_only_what_could_have_been_known_is_called_unknown() -> None:
    waiting = InGroup(group="g", position=entry_id(minutes(20)))
    once = InGroup(group="g", position=ID, row=PendingEntry(ID, "w", seconds(9), 1))
    twice = InGroup(group="g", position=ID, row=PendingEntry(ID, "w", seconds(9), 2))
    assert told(groups=(waiting, once)).unknown == ()
    assert told(groups=(twice,)).unknown == (LAST_OWNER,)
    done = told(groups=(InGroup(group="g", position=ID),), unknown=("Whether it rained.",))
    assert done.unknown == ("Whether it rained.", NO_ACKS, LAST_OWNER)


def test_from_a_retry_to_its_replay() -> None:
    died = read_letter(
        Entry(
            entry_id(minutes(5)),
            ((b"a", b"1"), (b"_so_origin_id", str(ID).encode()), (b"_so_group", b"g"), (b"_so_reason", b"timeout")),
        ),
        "orders:dlq",
        "orders",
    )  # fmt: skip
    copy = Entry(
        entry_id(), ((b"_so_origin_id", str(ID).encode()), (b"_so_replay_of", str(died.id).encode()))
    )
    story = told(
        groups=(InGroup(group="g", position=ID, marks=2),),
        waiting=(DelayedMessage("m", NOW, DelayedBody("r", (), "g", 2, str(ID))),),
        retried=(("{orders}:retry:g", "g", ENTRY),),
        letters=(died,),
        copies=(copy,),
        actions=(
            Acted(
                audit_id="5-0", at=NOW, operation="claim", target="orders/g", actor="ada@desk",
                row=PendingEntry(ID, "w", seconds(60), 4),
            ),
        ),
    )  # fmt: skip
    assert [kind for kind, _ in said(story)] == [
        StoryKind.ADDED, StoryKind.DONE, StoryKind.MARKED, StoryKind.ACTION, StoryKind.RETRY, StoryKind.RETRY,
        StoryKind.DEAD, StoryKind.AGAIN,
    ]  # fmt: skip
    texts = "\n".join(text for _, text in said(story))
    for words in (
        "g: not pending: it gave the entry up",
        "2 starts were marked",
        "claim of orders/g by ada@desk: before, w had it, delivered 4 times, idle for 1 min",
        "a retry for g, attempt 2 waits in the delayed queue as m",
        "a retry for g is in {orders}:retry:g as",
        "g gave it up of timeout",
        f"replayed as {copy.id}, from dead letter {died.id}",
    ):
        assert words in texts
    assert born_as(copy) == ID
