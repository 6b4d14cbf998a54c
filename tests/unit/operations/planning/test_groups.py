"""What plans about groups say."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Forbidden
from streamops.model.acting import Impact, StreamIdentity
from streamops.model.entries import ZERO_ID, Amount, EntryId
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.groups_create.plan import CreateGroupEvidence, plan_create_group
from streamops.operations.groups_destroy.intent import DestroyGroupIntent
from streamops.operations.groups_destroy.plan import DestroyGroupEvidence, plan_destroy_group
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.groups_rewind.plan import Overlap, RewindGroupEvidence, plan_rewind_group
from tests.support.tables import table

CREATED = CreateGroupEvidence(
    identity=StreamIdentity(),
    length=10,
    position=EntryId(5, 1),
    existing=None,
    ahead=Amount(3, 9),
    entries_read=None,
    other_groups=(),
)
REWOUND = RewindGroupEvidence(
    identity=StreamIdentity(),
    position=EntryId(9, 0),
    target=EntryId(2, 0),
    last_generated_id=EntryId(12, 0),
    between=Amount(7, 7),
    overlap=Overlap(),
    entries_read=None,
    consumers=0,
    other_groups=(),
)
DESTROYED = DestroyGroupEvidence(
    identity=StreamIdentity(),
    now=None,
    position=EntryId(9, 0),
    entries_read=None,
    lag=Amount(0, 0),
    pending=990_000,
    owners=(("c1", 990_000),),
    consumers=1,
    active=(),
    backup="b.jsonl",
    other_groups=(),
)
CREATE = CreateGroupIntent(stream="orders", group="billing", at="5-1")
DESTROY = DestroyGroupIntent(stream="orders", group="billing", backup="b.jsonl")


def test_a_plan_of_a_new_group_counts_what_it_will_be_given() -> None:
    plan = plan_create_group(CREATE, CREATED)
    assert (plan.count, plan.impact, plan.reversible) == (1, Impact.REVERSIBLE, False)
    assert "at least 3 entries (at most 9) will be delivered to it" in plan.effects[0]
    there = replace(CREATED, existing=EntryId(5, 1))
    assert plan_create_group(CREATE, there).count == 0
    with pytest.raises(Forbidden):
        plan_create_group(CREATE, replace(CREATED, existing=ZERO_ID))


@table(
    ("intent", "option"),
    [
        (RewindGroupIntent(stream="a b", group="-g", to_id=EntryId(2, 0)), "--to-id 2-0 -- 'a b' -g"),
        (RewindGroupIntent(stream="s", group="g", to_time=timedelta(hours=2)), "s g --to-time 2h"),
        (
            RewindGroupIntent(stream="s", group="g", to_time=datetime(2026, 3, 1, tzinfo=UTC)),
            "s g --to-time 2026-03-01T00:00:00+00:00",
        ),
        (RewindGroupIntent(stream="s", group="g", back=7), "s g --back 7"),
        (RewindGroupIntent(stream="s", group="g", to_start=True), "s g --to-start"),
        (RewindGroupIntent(stream="s", group="g", to_end=True), "s g --to-end"),
    ],
)
def test_the_equivalent_command(intent: RewindGroupIntent, option: str) -> None:
    assert plan_rewind_group(intent, REWOUND).command == f"streamops groups rewind {option}"


def test_rewinding_tells_what_is_not_known() -> None:
    intent = RewindGroupIntent(stream="s", group="g", to_id=EntryId(2, 0))
    overlap = Overlap(3, (("c2", 2), ("c1", 1)), complete=False)
    plan = plan_rewind_group(intent, replace(REWOUND, between=Amount(5, 40), overlap=overlap))
    assert plan.count == 40
    assert plan.warnings[0].startswith("At least 3 of them are still pending")
    assert "c2 (2), c1 (1)" in plan.warnings[0]
    forward = plan_rewind_group(intent, replace(REWOUND, target=EntryId(11, 0)))
    assert "7 entries will never be delivered to it" in forward.effects[1]
    assert forward.undo.endswith("what it was given since is then delivered again too.")


def test_destroying_says_how_long_lists_are_dealt_with() -> None:
    plan = plan_destroy_group(DESTROY, DESTROYED)
    assert (plan.impact, plan.count, plan.confirm, plan.reversible) == (
        Impact.DESTRUCTIVE,
        990_000,
        "orders/billing",
        False,
    )
    assert plan.effects[2] == (
        "Its 990,000 pending rows are removed in batches first: "
        "at once they would block the server for about 152 ms."
    )
    assert not plan.warnings
    without_backup = replace(DESTROYED, backup="", active=("c1",))
    with pytest.raises(Forbidden, match="990,000 pending rows and no backup"):
        plan_destroy_group(replace(DESTROY, backup=None), without_backup)
    bare = plan_destroy_group(replace(DESTROY, backup=None), replace(without_backup, pending=10_000))
    assert [words[:13] for words in bare.warnings] == ["Seen just now", "No backup fil"]
