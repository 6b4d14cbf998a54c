"""What a plan to replay or purge says."""

from datetime import timedelta
from textwrap import wrap

import pytest
from msgspec.structs import replace

from streamops.model.acting import Impact, StreamIdentity
from streamops.model.dead_letters import DeadLetterCounts, DeadLetterKind, read_dead_letter
from streamops.model.entries import ZERO_ID, EntryId, StreamEntry
from streamops.model.fields import intent_fields
from streamops.model.selections import SelectedDeadLetters
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.dlq_purge.plan import PurgeEvidence, plan_purge
from streamops.operations.planning import dead_letter_line
from streamops.operations.replay.intent import ReplayIntent, ReplayMode, ReplayRoute
from streamops.operations.replay.plan import ReplayEvidence, TargetStream, plan_replay

QUEUE = "{orders}:dlq"
KINDS = (
    (DeadLetterKind("orders", "billing", "rejected"), 30),
    (DeadLetterKind("orders", "audit", "timeout"), 10),
)
LETTER = read_dead_letter(
    StreamEntry(EntryId(5, 1), (*((b"f%d" % n, b"v" * 50) for n in range(6)), (b"_so_reason", b"rejected"))),
    QUEUE,
    "orders",
)
TARGET = TargetStream("orders", ("billing", "audit", "search"))


def selected(count: int = 40, payloads: int = 0, source: str | None = "orders") -> SelectedDeadLetters:
    tally = DeadLetterCounts(min(count, 40), KINDS if count else (), payloads, EntryId(9, 9))
    return SelectedDeadLetters(
        length=100, count=count, tally=tally, after=ZERO_ID, last=EntryId(9, 9), source=source
    )


def evidence(
    mode: ReplayMode, *, atomic: bool = True, letters: SelectedDeadLetters | None = None
) -> ReplayEvidence:
    groups = ("",) if mode is ReplayMode.REPUBLISH else TARGET.groups
    routes = tuple(ReplayRoute("orders", group, "orders", f"key:{group}", group, atomic) for group in groups)
    return ReplayEvidence(
        identity=StreamIdentity(),
        letters=letters or selected(),
        sample=(LETTER,),
        targets=(TARGET,),
        routes=routes,
        mode=mode,
    )


def test_every_group_of_the_stream_is_named() -> None:
    plan = plan_replay(ReplayIntent(queue=QUEUE), evidence(ReplayMode.REPUBLISH))
    assert (plan.impact, plan.count, plan.undo, plan.loses, plan.warnings) == (
        Impact.REDELIVERS,
        40,
        "",
        "",
        (),
    )
    assert plan.effects[:2] == (
        "Reasons: rejected 30, timeout 10.",
        (
            "Entries are added to stream orders, with new IDs and their own fields in order; "
            "delivered to its groups: billing, audit, search."
        ),
    )
    assert any("carries _so_origin_id, its original ID" in effect for effect in plan.effects)
    assert any("carries _so_replay_of" in effect for effect in plan.effects)
    assert "atomic" in plan.effects[-1]
    assert plan.sample[0].endswith("and 2 fields more")


@pytest.mark.parametrize("mode", [ReplayMode.REDELIVER, ReplayMode.RETRY])
def test_one_group_alone_is_named_and_the_others_are_not_touched(mode: ReplayMode) -> None:
    text = " ".join(plan_replay(ReplayIntent(queue=QUEUE, mode=mode), evidence(mode)).effects)
    assert "group billing" in text
    assert "group audit" in text
    assert "Other groups (search of orders) are not affected." in text


def test_each_mode_is_told_apart_in_the_help_of_its_field() -> None:
    (told,) = (field.help for field in intent_fields(ReplayIntent) if field.name == "mode")
    assert [mode for mode in ReplayMode if f"{mode}: " not in told] == []
    assert "Default: republish" in told
    # A form of 80 columns has room for four lines of help.
    assert len(wrap(told, 78)) <= 4


def test_between_slots_it_is_effectively_once() -> None:
    plan = plan_replay(ReplayIntent(queue=QUEUE), evidence(ReplayMode.REPUBLISH, atomic=False))
    assert "effectively once, by markers that are kept 7 days" in plan.effects[-1]
    assert any("restored under its old ID" in warning for warning in plan.warnings)


def test_what_is_not_known_is_said() -> None:
    letters = selected(1_000, payloads=1, source=None)
    plan = plan_replay(ReplayIntent(queue=QUEUE), evidence(ReplayMode.REPUBLISH, letters=letters))
    assert plan.effects[0] == "Reasons, by the first 40: rejected 30, timeout 10."
    assert any("1 dead letter refers to a payload" in effect for effect in plan.effects)
    assert any("those of the first 40 dead letters" in warning for warning in plan.warnings)
    assert any("says that {orders}:dlq is a dead-letter queue" in warning for warning in plan.warnings)


def test_sample_tells_attempts_where_each_was_an_entry_of_its_own() -> None:
    told = [(b"_so_reason", b"max-deliveries"), (b"_so_deliveries", b"1"), (b"_so_attempt", b"3")]
    letter = read_dead_letter(StreamEntry(EntryId(5, 1), (*told, (b"n", b"1"))), QUEUE, "orders")
    assert dead_letter_line(letter) == "5-1 (max-deliveries, tried 3 times): n=1"
    assert "delivered 1 time" in dead_letter_line(replace(letter, attempt=1))


def test_reason_that_nothing_died_for_is_named() -> None:
    none = evidence(ReplayMode.REPUBLISH, letters=selected(0))
    plan = plan_replay(ReplayIntent(queue=QUEUE, because="rejectd"), none)
    assert plan.warnings == (
        "No dead letter has the reason rejectd: `streamops dlq show` counts the reasons.",
    )
    assert plan_replay(ReplayIntent(queue=QUEUE), none).warnings == ()


def test_field_that_an_edit_would_add_is_named() -> None:
    found = evidence(ReplayMode.REPUBLISH)
    changed = plan_replay(ReplayIntent(queue=QUEUE, edit=((b"f1", b"x"),)), found)
    added = plan_replay(ReplayIntent(queue=QUEUE, edit=((b"f1", b"x"), (b"total", b"9"))), found)
    told = "Of the 1 entry looked at, none has a field total: --edit adds it. Fields there: f0, f1, f2, f3, f4, f5."
    assert [one for one in added.warnings if one not in changed.warnings] == [told]


def test_that_a_crowd_of_groups_holds_the_server_is_told() -> None:
    crowd = TargetStream("orders", tuple(f"g{number}" for number in range(11_000)))
    told = plan_replay(ReplayIntent(queue=QUEUE), replace(evidence(ReplayMode.REPUBLISH), targets=(crowd,)))
    assert told.warnings == (
        (
            "Stream orders has 11,000 groups, and each step looks at all of them: "
            "it holds the server for about 20 ms."
        ),
    )


def test_the_equivalent_command() -> None:
    intent = ReplayIntent(
        queue=QUEUE,
        where="fields.a == '1'",
        because="rejected",
        since=timedelta(hours=1),
        count=3,
        ids=(EntryId(1, 2), EntryId(3, 4)),
        edit=((b"a b", b"\xff"),),
    )
    plan = plan_replay(intent, evidence(ReplayMode.REPUBLISH))
    assert plan.command == (
        "streamops replay '{orders}:dlq' --because rejected --where 'fields.a == '\"'\"'1'\"'\"'' --since 1h "
        "--ids 1-2,3-4 --count 3 --mode republish --edit $'a b=\\xff'"
    )
    many = ReplayIntent(queue=QUEUE, ids=tuple(EntryId(n, 1) for n in range(100)))
    assert "--ids - " in plan_replay(many, evidence(ReplayMode.REPUBLISH)).command


def test_a_plan_of_a_purge_loses_its_letters_and_asks_for_the_name_of_the_queue() -> None:
    told = PurgeEvidence(identity=StreamIdentity(), letters=selected(), sample=(LETTER,))
    plan = plan_purge(PurgeIntent(queue=QUEUE, backup="lost.jsonl"), told)
    assert (plan.impact, plan.confirm, plan.count) == (Impact.DESTRUCTIVE, QUEUE, 40)
    assert plan.loses == "40 dead letters of 100 in the queue, for good."
    assert plan.effects[1:] == (
        "Each is written to lost.jsonl before it is deleted; `streamops restore` reads that file.",
        "60 dead letters stay.",
    )
    assert plan.command == "streamops dlq purge '{orders}:dlq' --backup lost.jsonl"
