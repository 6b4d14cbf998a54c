"""Plans and outcomes in words and as documents: nothing that matters is left out, and nothing reaches a terminal."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.model.acting import Impact, Outcome, Plan, Skipped
from streamops.model.effects import LOSES_NOTHING, LOSES_PENDING, LOSES_UNREAD, NOT_REDELIVERABLE, Effect
from streamops.model.entries import Amount
from streamops.model.json_text import encode
from streamops.operations.planning import DEAD_LETTER_UNIT
from streamops.resources.plans import (
    NAMED,
    OUTCOME_COLUMNS,
    PLAN_COLUMNS,
    outcome_document,
    outcome_facts,
    plan_document,
    plan_facts,
    undo_command,
)
from streamops.resources.table import Fact
from tests.support import strategies
from tests.support.resources.plans import OUTCOME, PLAN
from tests.support.tables import table


def said(facts: tuple[Fact, ...]) -> dict[str, list[str]]:
    return {fact.name: [line.text for line in fact.lines] for fact in facts}


def test_a_plan_tells_everything() -> None:
    assert said(plan_facts(PLAN)) == {
        "plan": ["trim orders"],
        "count": ["1,200 entries"],
        "impact": ["High: deletes what undo cannot restore"],
        "sample": ["1-0 …", "2-0 …", "and 1,198 more"],
        "effect": ["1,200 entries go.", "Group billing loses 3."],
        "loses": ["3 entries that group billing has not read."],
        "held back by": ["group mail at 5-0"],
        "warning": ["Look twice."],
        "undo": ["not by `streamops undo`"],
        "command": ["streamops trim orders --maxlen 10 --unsafe"],
    }


@pytest.mark.parametrize(
    ("undo", "said_of_danger"), [("claim back", "Low: can be undone"), ("", "Low: loses nothing")]
)
def test_what_cannot_be_undone_is_not_said_to_be(undo: str, said_of_danger: str) -> None:
    plan = replace(PLAN, impact=Impact.REVERSIBLE, undo=undo)
    assert said(plan_facts(plan))["impact"] == [said_of_danger]


def test_danger_counts_no_dead_letters_that_stay() -> None:
    gone = NOT_REDELIVERABLE["entry-gone"](2, "", names=["5-0", "6-0"])
    assert gone is not None
    plan = replace(
        PLAN, operation="replay", impact=Impact.REDELIVERS, count=7, unit=DEAD_LETTER_UNIT, facts=(gone,)
    )
    assert said(plan_facts(plan))["impact"] == ["Medium: delivers at most 5 of 7 dead letters again"]


@pytest.mark.parametrize(
    ("impact", "confirm"),
    [(Impact.REVERSIBLE, None), (Impact.REDELIVERS, None), (Impact.DESTRUCTIVE, "orders")],
)
def test_a_name_is_asked_for_where_something_is_lost(impact: Impact, confirm: str | None) -> None:
    assert plan_document(replace(PLAN, impact=impact))["confirm"] == confirm


def test_the_document_of_a_plan() -> None:
    document = plan_document(PLAN)
    assert document["schema"] == "streamops.plan/1"
    contract = "operation target tier count sample effects loses reversible command fingerprint"
    assert {*contract.split()} <= {*document}
    assert (document["tier"], document["count"], document["reversible"]) == (3, 1_200, False)
    assert plan_document(replace(PLAN, loses="", undo="so"))["loses"] is None


@table(
    ("fact", "numbers"),
    [
        (LOSES_UNREAD(Amount(3, 3), group="g"), (3, 3, 3)),
        (LOSES_UNREAD(Amount(3, 9), group="g"), (None, 3, 9)),
        (LOSES_PENDING(3, group="g", open_ended=True), (None, 3, None)),
        (LOSES_NOTHING(group="g"), (None, None, None)),
    ],
)
def test_a_fact_says_how_many_as_far_as_that_is_known(
    fact: Effect, numbers: tuple[int | None, int | None, int | None]
) -> None:
    (told,) = plan_document(replace(PLAN, facts=(fact,)))["facts"]
    assert (told["count"], told["at_least"], told["at_most"]) == numbers
    assert (told["kind"], told["reason"], told["group"]) == (str(fact.kind), fact.reason, "g")


def test_a_fact_names_whose_they_are() -> None:
    fact = LOSES_PENDING(3, group="g", names=[("a", 3), "\udcff"])
    assert plan_document(replace(PLAN, facts=(fact,)))["facts"][0]["names"] == [
        {"name": "a", "count": 3},
        {"name": {"base64": "/w=="}, "count": None},
    ]


def test_an_outcome_tells_what_was_not_done() -> None:
    told = said(outcome_facts(OUTCOME, "streamops undo 7-0"))
    assert told["applied"] == ["70 of 100 planned: 25 skipped, 5 failed"]
    assert told["skipped"][0] == "25"
    assert told["skipped"][1] == "0-0: no longer idle"
    assert (len(told["skipped"]), told["skipped"][-1]) == (NAMED + 2, "and 5 more")
    assert told["failed"] == ["5", "9-9: too large", "and 4 more"]
    assert told["note"] == ["2 entries no longer exist: 1-0, 2-0."]
    assert (told["job"], told["audit"], told["undo"]) == (["4f1c09ab12cd"], ["7-0"], ["streamops undo 7-0"])


@pytest.mark.parametrize(("complete", "words"), [(True, "30 not done"), (False, "30 not reached")])
def test_numbers_of_an_outcome_add_up_to_those_planned(*, complete: bool, words: str) -> None:
    outcome = replace(OUTCOME, applied=65, skipped_count=0, complete=complete)
    assert said(outcome_facts(outcome))["applied"] == [f"65 of 100 planned: 5 failed, {words}"]


def test_the_document_of_an_outcome() -> None:
    document = outcome_document(OUTCOME)
    assert document["schema"] == "streamops.outcome/1"
    contract = "operation target requested applied skipped failed job elapsed_seconds"
    assert {*contract.split()} <= {*document}
    assert document["skipped"][0] == {"id": "0-0", "reason": "no longer idle"}
    assert document["failed"] == [{"id": "9-9", "error": "too large"}]
    assert (document["elapsed_seconds"], document["job"]) == (3.0, "4f1c09ab12cd")
    assert outcome_document(replace(OUTCOME, job=""))["job"] is None


def test_undoing_is_offered_where_it_is_possible() -> None:
    undone = replace(PLAN, undo="so")
    assert undo_command(undone, OUTCOME) == "streamops undo 7-0"
    assert undo_command(PLAN, OUTCOME) == ""
    assert undo_command(undone, replace(OUTCOME, applied=0)) == ""
    assert undo_command(undone, replace(OUTCOME, audit_id="")) == ""


plans = st.builds(
    Plan,
    operation=st.just("ack"),
    target=strategies.names(),
    impact=st.sampled_from(Impact),
    count=strategies.counts(),
    sample=st.lists(strategies.names(), max_size=3).map(tuple),
    effects=st.lists(strategies.names(), max_size=3).map(tuple),
    loses=strategies.names(),
    undo=strategies.names(),
    command=strategies.names(),
    confirm=strategies.names(),
    warnings=st.lists(strategies.names(), max_size=3).map(tuple),
)
outcomes = st.builds(
    Outcome,
    operation=st.just("ack"),
    target=strategies.names(),
    requested=strategies.counts(),
    applied=strategies.counts(),
    skipped=st.lists(st.builds(Skipped, strategies.names(), strategies.names()), max_size=3).map(tuple),
    skipped_count=st.integers(3, 10),
    notes=st.lists(strategies.names(), max_size=3).map(tuple),
    stopped=strategies.names(),
)


@given(plans, outcomes)
def test_whatever_names_hold_no_terminal_obeys_it(plan: Plan, outcome: Outcome) -> None:
    for fact in (*plan_facts(plan), *outcome_facts(outcome)):
        assert fact.lines
        assert all(line.text.isprintable() or not line.text for line in fact.lines)
    for text in (encode(plan_document(plan)), encode(outcome_document(outcome))):
        assert text.isprintable()
        msgspec.json.decode(text)
    assert all(column.cell(plan).text.isprintable() for column in PLAN_COLUMNS)
    assert all(column.cell(outcome).text.isprintable() for column in OUTCOME_COLUMNS)
