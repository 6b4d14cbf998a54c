"""What plans of trims say."""

from datetime import timedelta

import pytest

from streamops.errors import Forbidden
from streamops.model.acting import Impact, StreamIdentity
from streamops.model.entries import Amount, EntryId, PendingEntry
from streamops.operations.losses import BlockingGroup, GroupLoss, TrimEvidence
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.trim.plan import plan_trim
from tests.support.tables import table

NEEDS = EntryId(5, 0)
DANGLING = (
    "12 pending rows that point to nothing will be left: "
    "consumers get them without fields until they are acknowledged."
)
WANTED = Amount(40, 40)
ROW = PendingEntry(NEEDS, "worker-3", timedelta(hours=3), 2)
IDENTITY = StreamIdentity(("a",), EntryId(9, 0), (("billing", EntryId(6, 0)), ("audit", EntryId(9, 0))))


def evidence(
    removable: Amount, wanted: Amount = WANTED, holder: BlockingGroup | None = None, **more: object
) -> TrimEvidence:
    return TrimEvidence(
        **{
            "identity": IDENTITY,
            "length": 100,
            "entry_bytes": 10,
            "asked": None,
            "wanted": wanted,
            "removable": removable,
            "holder": holder or BlockingGroup("billing", NEEDS, ROW),
            **more,
        }  # type: ignore[arg-type]  # a test's own keywords
    )


@table(
    ("holder", "words"),
    [
        (
            BlockingGroup("billing", NEEDS, ROW),
            "group billing: 5-0 is pending with worker-3, idle for 3 h, delivered 2 times",
        ),
        (
            BlockingGroup("billing", NEEDS, PendingEntry(NEEDS, "", timedelta(0), 2)),
            "group billing: 5-0 is pending and free for any consumer, delivered 2 times",
        ),
        (
            BlockingGroup("billing", NEEDS, None, unread=Amount(12_345, 12_345)),
            "group billing has yet to read 12,345 entries",
        ),
        (
            BlockingGroup("billing", NEEDS, None, unread=Amount(0, 7)),
            "group billing has yet to read up to 7 entries",
        ),
    ],
)
def test_a_plan_of_a_trim_names_who_holds_it_back(holder: BlockingGroup, words: str) -> None:
    assert (
        plan_trim(TrimIntent(stream="s", maxlen=60), evidence(Amount(3, 3), holder=holder)).held_back_by
        == words
    )


def test_nobody_holds_back_what_may_go_whole() -> None:
    plan = plan_trim(TrimIntent(stream="s", maxlen=60, exact=True), evidence(Amount(40, 40)))
    assert (plan.held_back_by, plan.count, plan.impact) == ("", 40, Impact.REDELIVERS)
    assert plan.effects[0] == "The oldest 40 of 100 entries are removed."
    assert plan.command == "streamops trim s --maxlen 60 --exact"


def test_the_entry_at_a_position_is_kept_and_holds_nobody_back() -> None:
    drained = BlockingGroup("billing", NEEDS, None)
    plan = plan_trim(TrimIntent(stream="s", maxlen=0), evidence(Amount(0, 0), Amount(1, 1), drained))
    assert (plan.count, plan.held_back_by) == (0, "")
    assert plan.effects[1] == (
        "Asked to keep 0 entries, it will leave 100 of the 100 there are now: the entry at the position of group billing, 5-0, is kept."
    )


def test_what_was_not_counted_is_not_claimed() -> None:
    plan = plan_trim(TrimIntent(stream="s", maxlen=60), evidence(Amount(10, 30)))
    assert plan.count == 30
    assert plan.effects[0].startswith(
        "The oldest are removed, at most 30 (at least 10 could be counted) of 100 entries"
    )


NEEDED = "group billing needs the entries from 5-0 on"
NODES = "without --exact the server drops whole nodes only, of 100 entries unless it is configured otherwise"


@table(
    ("bound", "removable", "words"),
    [
        (
            {"maxlen": 60, "exact": True},
            Amount(3, 3),
            f"Asked to keep 60 entries, it will leave 97 of the 100 there are now: {NEEDED}.",
        ),
        (
            {"maxlen": 60},
            Amount(3, 3),
            f"Asked to keep 60 entries, it will leave 97 to 100 of the 100 there are now: {NEEDED}, and {NODES}.",
        ),
        ({"minid": EntryId(8, 0)}, Amount(0, 0), f"Asked to drop 40 entries, it will drop 0: {NEEDED}."),
        (
            {"before": timedelta(days=1), "exact": True},
            Amount(10, 30),
            f"Asked to drop 40 entries, it will drop 10 to 30: {NEEDED}.",
        ),
    ],
)
def test_trim_that_is_held_back_warns_of_how_many_it_leaves(
    bound: dict[str, object], removable: Amount, words: str
) -> None:
    plan = plan_trim(TrimIntent(stream="s", **bound), evidence(removable))  # type: ignore[arg-type]  # a test's own keywords
    assert plan.warnings[0] == words


@pytest.mark.parametrize("safe", [True, False])
def test_approximate_trim_says_that_it_leaves_up_to_a_node_more(*, safe: bool) -> None:
    found = evidence(Amount(150, 150), Amount(150, 150), length=400, asked=NEEDS)
    plan = plan_trim(TrimIntent(stream="s", maxlen=250, safe=safe), found)
    assert (
        f"Asked to keep 250 entries, it will leave 250 to 349 of the 400 there are now: {NODES}."
        in plan.effects
    )


def test_poison_that_holds_a_trim_back_is_named_with_what_dead_letters_it() -> None:
    row = PendingEntry(NEEDS, "worker-3", timedelta(seconds=3), 12)
    found = evidence(Amount(3, 3), holder=BlockingGroup("billing", NEEDS, row, is_poison=True))
    plan = plan_trim(TrimIntent(stream="s", maxlen=60), found)
    assert plan.warnings[-1] == (
        "The entry 5-0 is poison: delivered 12 times and never acknowledged, it blocks the trim until it is dead-lettered: streamops dlq add s billing --ids 5-0"
    )


def test_a_pending_entry_that_is_gone_is_pointed_out() -> None:
    holder = BlockingGroup("billing", NEEDS, ROW, entry_exists=False)
    plan = plan_trim(TrimIntent(stream="s", maxlen=60), evidence(Amount(3, 3), holder=holder))
    assert plan.warnings[-1].endswith("to acknowledge it: streamops ack s billing --ids 5-0")


def test_without_groups_nobody_can_say() -> None:
    asked = TrimIntent(stream="s", maxlen=1)
    nobody = TrimEvidence(
        identity=IDENTITY,
        length=3,
        entry_bytes=1,
        asked=None,
        wanted=Amount(2, 2),
        removable=Amount(0, 0),
    )
    with pytest.raises(Forbidden, match="no group"):
        plan_trim(asked, nobody)


def test_an_unsafe_trim_tells_every_groups_loss() -> None:
    intent = TrimIntent(stream="s", maxlen=60, exact=True, safe=False, backup="a b.jsonl")
    losses = (
        GroupLoss("billing", Amount(30, 30), (("w1", 7), ("w2", 5))),
        GroupLoss("audit", Amount(0, 0), ()),
        *(GroupLoss(f"g{number}", Amount(1, 1), ()) for number in range(6)),
    )
    plan = plan_trim(
        intent, evidence(Amount(40, 40), asked=EntryId(7, 0), losses=losses, lag_goes_wrong="it lies")
    )
    assert (plan.impact, plan.count, plan.confirm, plan.undo) == (Impact.DESTRUCTIVE, 40, "s", "")
    assert plan.effects == (
        "The oldest 40 of 100 entries are removed. None is removed from 7-0 on.",
        "Group billing loses 30 entries that it has yet to read and 12 pending entries (w1 7, w2 5).",
        "Group audit loses nothing.",
        *(f"Group g{number} loses 1 entry that it has yet to read." for number in range(3)),
        "3 further groups lose 3 unread and 0 pending.",
        "They are written to a b.jsonl first.",
    )
    assert plan.loses == "40 entries, 36 of them unread and 12 pending, counted group by group."
    assert plan.warnings == (
        DANGLING,
        "Groups billing, g0, g1, g2, g3 and 2 more: it lies.",
    )
    assert plan.command == "streamops trim s --maxlen 60 --exact --unsafe --backup 'a b.jsonl'"


def test_what_was_not_counted_to_its_end_is_told_as_at_least() -> None:
    losses = (
        GroupLoss("billing", Amount(30, 35), (("w1", 7),), pending_complete=False),
        GroupLoss("audit", Amount(0, 9), ()),
        *(GroupLoss(f"g{number}", Amount(1, 1), ()) for number in range(3)),
        *(GroupLoss(f"h{number}", Amount(1, 2), (("w1", 1),), pending_complete=False) for number in range(2)),
    )
    told = evidence(Amount(20, 40), asked=EntryId(7, 0), losses=losses)
    plan = plan_trim(TrimIntent(stream="s", minid=EntryId(7, 0), exact=True, safe=False), told)
    assert (plan.impact, plan.count, plan.confirm) == (Impact.DESTRUCTIVE, 40, "s")
    assert plan.effects[1:3] == (
        (
            "Group billing loses at least 30 entries (at most 35) that it has yet to read "
            "and at least 7 pending entries (w1 7)."
        ),
        "Group audit loses up to 9 entries that it has yet to read.",
    )
    assert plan.effects[-1] == "2 further groups lose at least 2 (at most 4) unread and at least 2 pending."
    assert plan.loses == (
        "At least 20 entries (at most 40), at least 35 (at most 51) of them unread and at least 9 pending, "
        "counted group by group."
    )
    assert f"At least 9{DANGLING[2:]}" in plan.warnings


@pytest.mark.parametrize("safe", [True, False])
def test_that_a_crowd_of_groups_holds_the_server_is_told_beforehand(*, safe: bool) -> None:
    crowd = tuple((f"g{number}", NEEDS) for number in range(10_000))
    asked = TrimIntent(stream="s", minid=NEEDS, safe=safe)
    crowded = evidence(WANTED, identity=StreamIdentity(("a",), EntryId(9, 0), crowd), asked=NEEDS)
    least = 45 if safe else 18
    assert plan_trim(asked, crowded).warnings[-1] == (
        "The stream has 10,000 groups, and each step looks at all of them: "
        f"it holds the server for about {least} ms."
    )
    few = evidence(WANTED, identity=StreamIdentity(("a",), EntryId(9, 0), crowd[:2_000]), asked=NEEDS)
    assert not any("groups" in warning for warning in plan_trim(asked, few).warnings)


@table(
    ("age", "written"),
    [
        (timedelta(days=7), "7d"),
        (timedelta(hours=36), "1d12h"),
        (timedelta(minutes=90), "1h30m"),
        (timedelta(seconds=45), "45s"),
        (timedelta(milliseconds=1500), "1s500ms"),
        (timedelta(0), "0s"),
    ],
)
def test_an_age_is_written_as_the_command_line_reads_it(age: timedelta, written: str) -> None:
    plan = plan_trim(TrimIntent(stream="s", before=age), evidence(Amount(0, 0), Amount(0, 0)))
    assert plan.command == f"streamops trim s --before {written}"
    assert plan.effects == ("The limit keeps all of 100 entries.",)


@table(
    "asked",
    [
        {},
        {"maxlen": 1, "minid": NEEDS},
        {"maxlen": -1},
        {"before": timedelta(seconds=-1)},
        {"maxlen": 1, "backup": "file"},
    ],
)
def test_what_makes_no_sense_cannot_be_asked(asked: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="--"):
        TrimIntent(stream="s", **asked)  # type: ignore[arg-type]  # a test's own keywords


def test_pending_rows_that_go_along_are_told_and_not_warned_of() -> None:
    losses = (GroupLoss("billing", Amount(0, 0), (("worker-1", 12),)),)
    some = evidence(WANTED, losses=losses, asked=NEEDS, references=True)
    intent = TrimIntent(stream="s", minid=NEEDS, safe=False, exact=True)
    plan = plan_trim(intent, some)
    assert any("(DELREF)" in effect for effect in plan.effects)
    assert not any(
        "points to nothing" in warning or "point to nothing" in warning for warning in plan.warnings
    )
    none = plan_trim(intent, evidence(WANTED, asked=NEEDS, references=True))
    assert not any("DELREF" in effect for effect in none.effects)


def test_approximate_trim_names_the_form_that_takes_pending_rows_along() -> None:
    losses = (GroupLoss("billing", Amount(0, 0), (("worker-1", 12),)),)
    some = evidence(WANTED, losses=losses, asked=NEEDS, references=True)
    plan = plan_trim(TrimIntent(stream="s", minid=NEEDS, safe=False), some)
    assert not any("DELREF" in effect for effect in plan.effects)
    assert f"{DANGLING} With --exact this server takes them along (DELREF)." in plan.warnings
