"""Plans of claims, nacks and their undoing: what they say, from evidence alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.model.acting import Impact, StreamIdentity
from streamops.model.entries import EntryId, PendingEntry
from streamops.model.pending import DeletedPending, PendingChange, PendingSelection, Unfit
from streamops.model.streams import Consumer
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.claim.plan import ClaimEvidence, plan_claim
from streamops.operations.nack.intent import NackIntent
from streamops.operations.nack.plan import NackEvidence, plan_nack
from streamops.operations.planning import fingerprint
from streamops.operations.undo.intent import UndoIntent
from streamops.operations.undo.plan import UndoEvidence, plan_undo
from tests.support.tables import table

HOUR = timedelta(hours=1)
ROW = PendingEntry(EntryId(1, 1), "a", HOUR, 3)
SELECTION = PendingSelection(12, (("a", 7), ("b", 5)), (ROW,), ROW, EntryId(9, 1))
CLAIM = ClaimIntent(stream="orders", group="billing", to="r")
NACK = NackIntent(stream="orders", group="billing", ids=(EntryId(1, 1),))
UNDO = UndoIntent(
    audit_id=EntryId(5, 0), stream="orders", group="billing", done=PendingChange.CLAIMED, holder="r"
)


def consumer(name: str, idle: timedelta) -> Consumer:
    return Consumer(name, 1, idle, None)


def evidence(**changes: Any) -> ClaimEvidence:
    members = (consumer("a", HOUR), consumer("b", HOUR), consumer("r", timedelta(0)))
    fields: dict[str, Any] = {
        "identity": StreamIdentity(),
        "selection": SELECTION,
        "unfit": Unfit(),
        "consumers": members,
    }
    return ClaimEvidence(**(fields | changes))


def test_a_plan_of_a_claim_tells_what_moves() -> None:
    plan = plan_claim(CLAIM, evidence())
    assert (plan.impact, plan.count, plan.target) == (Impact.REVERSIBLE, 12, "orders/billing")
    assert plan.sample == ("1-1 owned by a, idle for 1 h, delivered 3 times",)
    assert plan.effects[0] == "12 entries of a (7), b (5) will be owned by r."
    assert plan.effects[1] == "The longest idle is 1-1: 1 h, owned by a."
    assert plan.warnings == ()
    assert plan.command == "streamops claim orders billing --to r --min-idle 1m"


@table(
    ("intent", "changes", "warning"),
    [
        (
            replace(CLAIM, min_idle=timedelta(0)),
            {},
            "Without a minimum idle time, entries are taken even from workers that were delivered them just now.",
        ),
        (
            replace(CLAIM, to="new"),
            {},
            "There is no consumer new yet: it is created, and perhaps no process reads as it.",
        ),
        (
            CLAIM,
            {"consumers": (consumer("r", HOUR),)},
            "r was not seen for 1 h: if it is dead, the entries stay pending.",
        ),
        (
            CLAIM,
            {"consumers": (consumer("a", timedelta(seconds=3)), consumer("r", timedelta(0)))},
            "Active lately, and perhaps still processing them: a (3 s ago).",
        ),
        (
            replace(CLAIM, ids=(EntryId(1, 1),)),
            {"unfit": Unfit(0, 0, 2)},
            "2 IDs are not idle for long enough, and will be left out.",
        ),
    ],
)
def test_a_risky_claim_warns_of_its_risk(intent: ClaimIntent, changes: dict[str, Any], warning: str) -> None:
    assert plan_claim(intent, evidence(**changes)).warnings == (warning,)


@pytest.mark.parametrize(
    ("gone", "effect"),
    [
        (
            DeletedPending(12, 2, (EntryId(1, 1), EntryId(2, 1))),
            (
                "No longer in the stream, though pending: 1-1, 2-1; acknowledging them removes them. This server can still claim them."
            ),
        ),
        (
            DeletedPending(12),
            "All of these entries still exist; this server would not say so when they are claimed.",
        ),
        (
            DeletedPending(4),
            (
                "All of these entries still exist among the first 4; this server would not say so when they are "
                "claimed."
            ),
        ),
    ],
)
def test_what_an_old_server_keeps_to_itself_is_told(gone: DeletedPending, effect: str) -> None:
    assert plan_claim(CLAIM, evidence(gone=gone)).effects[-1] == effect


def test_the_command_says_everything() -> None:
    intent = ClaimIntent(
        stream="-s",
        group="g",
        to="r x",
        source="it's",
        min_idle=timedelta(milliseconds=1500),
        ids=(EntryId(1, 1), EntryId(2, 2)),
        count=3,
    )
    assert plan_claim(intent, evidence()).command == (
        "streamops claim --to 'r x' --from 'it'\"'\"'s' --min-idle 1s500ms --ids 1-1,2-2 --count 3 -- -s g"
    )
    many = tuple(EntryId(number, 0) for number in range(1, 100))
    assert plan_claim(replace(CLAIM, ids=many), evidence()).command.endswith("--ids -")


def test_the_fingerprint_changes_with_what_is_claimed_and_not_with_time() -> None:
    older = replace(SELECTION, sample=(replace(ROW, idle=2 * HOUR),))
    other = replace(SELECTION, count=11)
    first, second, third = (fingerprint(None, evidence(selection=one)) for one in (SELECTION, older, other))
    assert first == second != third


def test_the_fingerprint_leaves_out_what_passes_by_itself() -> None:
    moved = evidence(identity=StreamIdentity(("a",), EntryId(9, 9)), consumers=())
    assert (
        fingerprint(None, moved)
        == fingerprint(None, evidence())
        != fingerprint(None, evidence(gone=DeletedPending(12, 1)))
    )


def test_a_nack_says_how() -> None:
    plan = plan_nack(NACK, NackEvidence(identity=StreamIdentity(), rows=(ROW,), absent=0, elsewhere=0))
    assert "free for any consumer" in plan.effects[0]
    assert (plan.impact, plan.count, plan.warnings) == (Impact.REDELIVERS, 1, ())


def test_an_undo_tells_what_cannot_be() -> None:
    found = UndoEvidence(
        identity=StreamIdentity(),
        operation="claim",
        at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        by="ann@here:1",
        ended=False,
        restorable=b"\1\0\1",
        owners=(("a", 2),),
        absent_owners=("a",),
        sample=(ROW,),
        refused={"delivered": 1},
        refused_sample=(("2-1", "delivered"),),
    )
    plan = plan_undo(UNDO, found)
    assert (plan.count, plan.impact, plan.command) == (2, Impact.REVERSIBLE, "streamops undo 5-0")
    assert plan.effects[0] == "Undoes claim of 2026-03-01 12:00:00Z by ann@here:1: 2 entries of a."
    assert plan.warnings == (
        (
            "1 entry cannot be restored and will be left alone: delivered or claimed again since. The first is 2-1."
        ),
        "Created again, because the group has no such consumers now: a.",
        "The action is still running, or was interrupted: what it does from now on is not undone.",
    )
