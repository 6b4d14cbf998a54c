"""What a plan to reclaim a group says."""

from datetime import timedelta

import pytest

from streamops.errors import Forbidden
from streamops.model.acting import Environment, Impact, StreamIdentity
from streamops.model.entries import EntryId, PendingEntry
from streamops.model.pending import Stale, StaleRow
from streamops.model.streams import Consumer
from streamops.operations.confirmation import ConfirmationKind, required_confirmation
from streamops.operations.streams_reclaim.intent import ReclaimIntent, Redelivery
from streamops.operations.streams_reclaim.plan import ReclaimEvidence, plan_reclaim

NOW = timedelta(seconds=3)
ROW = StaleRow(PendingEntry(EntryId(1, 1), "w", timedelta(minutes=5), 2), "redeliver", "1-1")
STALE = Stale(redeliver=1, owners=(("w", 1),), sample=(ROW,), last_id=EntryId(1, 1))
INTENT = ReclaimIntent(stream="orders", group="billing")
GOES_ON = ReclaimIntent(stream="orders", group="billing", every=timedelta(seconds=30))


def evidence(
    stale: Stale = STALE,
    others: tuple[str, ...] = (),
    library: str = "",
    consumers: tuple[Consumer, ...] = (),
) -> ReclaimEvidence:
    return ReclaimEvidence(
        identity=StreamIdentity(),
        stale=stale,
        others=others,
        queue="{orders}:dlq",
        library=library,
        consumers=consumers,
    )


def test_going_on_it_is_agreed_to_whatever_it_counts() -> None:
    plan = plan_reclaim(GOES_ON, evidence(Stale()))
    assert plan.effects[0].startswith("Now, and every 30 s until it is stopped: ")
    assert (plan.count, plan.recurring, plan.idle, plan.impact) == (0, True, False, Impact.REDELIVERS)
    policy = required_confirmation(plan, Environment.PRODUCTION)
    assert (policy.kind, policy.word) == (ConfirmationKind.TYPED, "billing")
    assert required_confirmation(plan, Environment.DEVELOPMENT).kind is ConfirmationKind.TAB


def test_once_it_is_agreed_to_by_its_count() -> None:
    assert required_confirmation(plan_reclaim(INTENT, evidence()), Environment.PRODUCTION).word == "1"
    assert (
        required_confirmation(plan_reclaim(INTENT, evidence(Stale())), Environment.PRODUCTION).kind
        is ConfirmationKind.NONE
    )


def test_other_groups_are_a_reason_to_ask() -> None:
    with pytest.raises(Forbidden, match="audit, shipping"):
        plan_reclaim(INTENT, evidence(others=("audit", "shipping")))
    added = plan_reclaim(
        ReclaimIntent(stream="orders", group="billing", redeliver=Redelivery.ADD), evidence(others=("audit",))
    )
    assert "Other groups get these entries a second time: audit." in added.warnings
    claimed = plan_reclaim(
        ReclaimIntent(stream="orders", group="billing", redeliver=Redelivery.CLAIM, to="w2"),
        evidence(others=("audit",)),
    )
    assert not claimed.warnings
    assert any("claimed for w2" in effect for effect in claimed.effects)


@pytest.mark.parametrize("library", ["FastStream", "taskiq"])
def test_the_habits_of_a_known_library_are_told(library: str) -> None:
    assert plan_reclaim(INTENT, evidence(library=library)).effects[-1].startswith(f"These are {library}'s: ")


def test_who_may_be_at_work_is_told() -> None:
    busy, ours = Consumer("w", 1, NOW, None), Consumer("so-host-1-abcd", 0, NOW, None)
    warnings = plan_reclaim(INTENT, evidence(consumers=(busy, ours))).warnings
    assert warnings[0].startswith("Active lately, and perhaps still processing theirs: w (3 s ago).")
    assert warnings[1].startswith("Consumers of streamops are in this group")


def test_the_command_is_the_intent_again() -> None:
    intent = ReclaimIntent(
        stream="my orders",
        group="billing",
        min_idle=timedelta(milliseconds=1500),
        max_deliveries=3,
        dlq="dead",
        redeliver=Redelivery.CLAIM,
        to="w",
        every=timedelta(minutes=1),
    )
    assert plan_reclaim(intent, evidence()).command == (
        "streamops streams reclaim 'my orders' billing --min-idle 1s500ms --max-deliveries 3 --dlq dead "
        "--redeliver claim --to w --every 1m"
    )
