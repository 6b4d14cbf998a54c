"""Structs as bytes and back: nothing is lost, whatever bytes a name is made of."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec import Struct

from streamops.errors import UnexpectedReply
from streamops.model.acting import Failed, Impact, Outcome, Plan, Skipped
from streamops.model.effects import Effect, EffectKind
from streamops.model.entries import Amount, EntryId
from streamops.model.fields import Instant, argument, option
from streamops.operations.packing import LONG, pack, unpack, unpack_values
from tests.support import strategies
from tests.support.tables import table


class Mode(StrEnum):
    QUICK = "quick"
    SLOW = "slow"


class OddIntent(Struct, frozen=True, kw_only=True):
    """One field of each kind that an intent may have."""

    stream: Annotated[str, argument("The stream.")]
    mode: Annotated[Mode, option("The mode.")]
    count: Annotated[int | None, option("How many.")] = None
    share: Annotated[float, option("How much.")] = 0.0
    exact: Annotated[bool, option("Exactly.")] = False
    idle: Annotated[timedelta | None, option("How long.")] = None
    since: Annotated[Instant | None, option("Since when.")] = None
    until: Instant | None = None
    at: Annotated[EntryId | None, option("Where.")] = None
    ids: Annotated[tuple[EntryId, ...], option("Which.")] = ()
    edits: Annotated[tuple[tuple[bytes, bytes], ...], option("How.")] = ()
    names: Annotated[tuple[str, ...], option("Whom.")] = ()


def spans() -> SearchStrategy[timedelta]:
    return st.timedeltas(timedelta(days=-400), timedelta(days=400))


def moments() -> SearchStrategy[Instant | None]:
    instants = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - Hypothesis wants its bounds without a zone
    return st.one_of(st.none(), instants, spans())


intents = st.builds(
    OddIntent,
    stream=strategies.names(),
    mode=st.sampled_from(Mode),
    count=st.none() | st.integers(0, 2**63),
    share=st.floats(allow_nan=False, allow_infinity=False),
    exact=st.booleans(),
    idle=st.none() | spans(),
    since=moments(),
    until=moments(),
    at=st.none() | strategies.entry_ids(),
    ids=st.lists(strategies.entry_ids(), max_size=5).map(tuple),
    edits=st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=8)), max_size=4).map(tuple),
    names=st.lists(strategies.names(), max_size=3).map(tuple),
)


@given(intents)
def test_an_intent_survives(intent: OddIntent) -> None:
    assert unpack(OddIntent, pack(intent)) == intent


plans = st.builds(
    Plan,
    operation=st.just("ack"),
    target=strategies.names(),
    impact=st.sampled_from(Impact),
    count=strategies.counts(),
    sample=st.lists(strategies.names(), max_size=3).map(tuple),
    effects=st.lists(strategies.names(), max_size=3).map(tuple),
    confirm=strategies.names(),
    facts=st.lists(
        st.builds(
            Effect,
            kind=st.sampled_from(EffectKind),
            reason=st.just("pending"),
            count=st.none() | st.builds(Amount, strategies.counts(), strategies.counts()),
            group=strategies.names(),
            names=st.lists(
                strategies.names() | st.tuples(strategies.names(), strategies.counts()), max_size=2
            ).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
)
outcomes = st.builds(
    Outcome,
    operation=st.just("ack"),
    target=strategies.names(),
    requested=strategies.counts(),
    applied=strategies.counts(),
    skipped=st.lists(st.builds(Skipped, strategies.names(), strategies.names()), max_size=3).map(tuple),
    failed=st.lists(st.builds(Failed, strategies.names(), strategies.names()), max_size=3).map(tuple),
    elapsed=spans(),
)


@given(plans, outcomes)
def test_plans_and_outcomes_survive(plan: Plan, outcome: Outcome) -> None:
    assert unpack(Plan, pack(plan)) == plan
    assert unpack(Outcome, pack(outcome)) == outcome


def test_a_plan_on_record_without_facts_is_understood() -> None:
    record = b'{"operation":"ack","target":"s/g","tier":2,"count":1,"effects":["So."],"standing":true}'
    plan = unpack(Plan, record)
    assert (plan.impact, plan.effects, plan.facts, plan.recurring) == (
        Impact.REDELIVERS,
        ("So.",),
        (),
        True,
    )
    assert {"tier", "standing"} <= unpack_values(pack(plan)).keys()


def test_what_is_long_is_compressed() -> None:
    ids = tuple(EntryId(1_700_000_000_000 + number, 0) for number in range(10_000))
    intent = OddIntent(stream="orders\udcff", mode=Mode.QUICK, ids=ids)
    packed = pack(intent)
    assert len(packed) < len(msgspec.json.encode(ids)) / 3
    assert unpack(OddIntent, packed) == intent
    assert len(pack(OddIntent(stream="orders", mode=Mode.QUICK))) < LONG


def test_what_is_not_there_is_its_default() -> None:
    assert unpack(OddIntent, b'{"stream":"a","mode":"slow"}') == OddIntent(stream="a", mode=Mode.SLOW)


@table("data", [b"", b"nonsense", b"[]", b"{", b"\x78\x01nonsense", b'{"stream": 1}', b"\xff"])
def test_what_was_not_packed_is_refused(data: bytes) -> None:
    with pytest.raises(UnexpectedReply):
        unpack(Plan, data)


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with suppress(UnexpectedReply):
        unpack_values(data)
