"""What plans count, as facts."""

from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.entries import Amount, EntryId, PendingEntry
from streamops.operations.ack.intent import AckIntent
from streamops.operations.ack.plan import AckEvidence, plan_ack
from streamops.operations.groups_create.plan import plan_create_group
from streamops.operations.groups_destroy.plan import plan_destroy_group
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.groups_rewind.plan import Overlap, plan_rewind_group
from streamops.operations.losses import GroupLoss
from streamops.operations.nack.plan import NackEvidence, plan_nack
from streamops.operations.planning import fingerprint
from streamops.operations.streams_rm_entry.plan import plan_delete
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.trim.plan import plan_trim
from tests.support.operations.facts import counts
from tests.support.tables import table
from tests.unit.operations.planning.test_claim import NACK
from tests.unit.operations.planning.test_delete import ASKED, FOUND
from tests.unit.operations.planning.test_groups import CREATE, CREATED, DESTROY, DESTROYED, REWOUND
from tests.unit.operations.planning.test_trim import WANTED
from tests.unit.operations.planning.test_trim import evidence as trimmed

ROWS = tuple(PendingEntry(EntryId(at, 0), "w", timedelta(0), 1) for at in (1, 2))
ACK = AckIntent(stream="s", group="g", ids=(EntryId(1, 0), EntryId(2, 0), EntryId(3, 0)))
PENDING = AckEvidence(StreamIdentity(), ROWS, frozenset({EntryId(1, 0)}), ("other",))
BACK = RewindGroupIntent(stream="s", group="g", to_id=EntryId(2, 0))
UNSAFE = TrimIntent(stream="s", maxlen=60, safe=False)
LOSSES = (GroupLoss("a", Amount(3, 9), (("w", 2),), pending_complete=False), GroupLoss("b", Amount(0, 0), ()))


@table(
    ("plan", "facts"),
    [
        (
            plan_ack(ACK, PENDING),
            {"acknowledged.pending": 2, "kept.other-groups": 1, "skipped.not-pending": 1, "lost.missing": 1},
        ),
        (
            plan_nack(NACK, NackEvidence(identity=StreamIdentity(), rows=ROWS, absent=1, elsewhere=3)),
            {"moved.given-back": 2, "skipped.not-pending": 1, "skipped.owned-elsewhere": 3},
        ),
        (plan_create_group(CREATE, CREATED), {"redelivered.ahead": Amount(3, 9)}),
        (
            plan_create_group(replace(CREATE, at="$"), replace(CREATED, identity=None)),
            {"created.stream": 1, "undelivered.before": 10},
        ),
        (
            plan_destroy_group(DESTROY, replace(DESTROYED, lag=Amount(0, 5))),
            {"removed.group": 1, "lost.not-redelivered": 990_000, "lost.not-given": Amount(0, 5)},
        ),
        (
            plan_rewind_group(BACK, replace(REWOUND, overlap=Overlap(3, (("c", 3),)))),
            {"redelivered.rewound": 7, "redelivered.pending": 3},
        ),
        (plan_rewind_group(BACK, replace(REWOUND, target=EntryId(11, 0))), {"undelivered.forwarded": 7}),
        (plan_delete(ASKED, FOUND), {"removed.entries": 2, "kept.dangling-by-group": 2, "lost.entries": 2}),
        (
            plan_trim(replace(UNSAFE, exact=True), trimmed(WANTED, losses=LOSSES)),
            {
                "removed.oldest": 40,
                "lost.unread": Amount(3, 9),
                "lost.pending": 2,
                "kept.all": None,
                "lost.entries": 40,
                "kept.dangling": 2,
            },
        ),
        (
            plan_trim(TrimIntent(stream="s", maxlen=60), trimmed(Amount(3, 3))),
            {"removed.oldest-nodes": 3, "removed.unneeded": 3, "held_back.pending": None},
        ),
    ],
)
def test_a_plan_counts_what_becomes_of_what(plan: Plan, facts: dict[str, int | Amount | None]) -> None:
    assert counts(plan) == facts


def test_a_group_beyond_those_named_has_its_facts_all_the_same() -> None:
    losses = tuple(GroupLoss(f"g{number}", Amount(number, number), ()) for number in range(1, 9))
    plan = plan_trim(UNSAFE, trimmed(WANTED, losses=losses))
    assert counts(plan, "lost", "g8") == {"unread": 8}
    assert not any("g8" in effect for effect in plan.effects)


@table(
    ("evidence", "passing"),
    [
        (REWOUND, {"last_generated_id": EntryId(99, 0), "consumers": 7}),
        (DESTROYED, {"lag": Amount(9, 9), "active": ("c",), "backup": "another"}),
        (
            PENDING,
            {
                "identity": StreamIdentity(("b",)),
                "rows": tuple(replace(row, idle=timedelta(9)) for row in ROWS),
            },
        ),
    ],
)
def test_what_passes_by_itself_does_not_make_another_fingerprint(
    evidence: Struct, passing: dict[str, object]
) -> None:
    assert fingerprint(None, replace(evidence, **passing)) == fingerprint(None, evidence)


def test_what_decides_makes_another_fingerprint() -> None:
    assert fingerprint(None, replace(REWOUND, target=EntryId(3, 0))) != fingerprint(None, REWOUND)
    assert fingerprint(None, replace(PENDING, rows=ROWS[:1])) != fingerprint(None, PENDING)
