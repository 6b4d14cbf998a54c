"""What a plan to tend a group says."""

from datetime import timedelta

import pytest

from streamops.errors import Forbidden
from streamops.model.acting import Environment, Identity, Tier
from streamops.model.acts.tend import Redelivery, Stuck, TendedRow, TendEvidence, TendIntent
from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.model.streams import Consumer
from streamops.plans.consent import ConsentKind, required_consent
from streamops.plans.tend import plan_tend

NOW = timedelta(seconds=3)
ROW = TendedRow(PendingEntry(EntryId(1, 1), "w", timedelta(minutes=5), 2), "redeliver")
STUCK = Stuck(redeliver=1, owners=(("w", 1),), sample=(ROW,), last_id=EntryId(1, 1))
INTENT = TendIntent(stream="orders", group="billing")


def evidence(
    stuck: Stuck = STUCK,
    others: tuple[str, ...] = (),
    library: str = "",
    consumers: tuple[Consumer, ...] = (),
) -> TendEvidence:
    return TendEvidence(
        identity=Identity(),
        stuck=stuck,
        others=others,
        queue="{orders}:dlq",
        library=library,
        consumers=consumers,
    )


def test_it_goes_on_whatever_it_counts() -> None:
    plan = plan_tend(INTENT, evidence(Stuck()))
    assert (plan.count, plan.standing, plan.idle, plan.tier) == (0, True, False, Tier.REDELIVERS)
    consent = required_consent(plan, Environment.PRODUCTION)
    assert (consent.kind, consent.word) == (ConsentKind.TYPED, "billing")
    assert required_consent(plan, Environment.DEVELOPMENT).kind is ConsentKind.TAB


def test_once_it_is_agreed_to_by_its_count() -> None:
    once = TendIntent(stream="orders", group="billing", once=True)
    assert required_consent(plan_tend(once, evidence()), Environment.PRODUCTION).word == "1"
    assert (
        required_consent(plan_tend(once, evidence(Stuck())), Environment.PRODUCTION).kind is ConsentKind.NONE
    )


def test_other_groups_are_a_reason_to_ask() -> None:
    with pytest.raises(Forbidden, match="audit, shipping"):
        plan_tend(INTENT, evidence(others=("audit", "shipping")))
    added = plan_tend(
        TendIntent(stream="orders", group="billing", redeliver=Redelivery.ADD), evidence(others=("audit",))
    )
    assert "Other groups get these entries a second time: audit." in added.warnings
    claimed = plan_tend(
        TendIntent(stream="orders", group="billing", redeliver=Redelivery.CLAIM, to="w2"),
        evidence(others=("audit",)),
    )
    assert not claimed.warnings
    assert any("given to w2" in effect for effect in claimed.effects)


@pytest.mark.parametrize("library", ["FastStream", "taskiq"])
def test_the_habits_of_a_known_library_are_told(library: str) -> None:
    assert plan_tend(INTENT, evidence(library=library)).effects[-1].startswith(f"These are {library}'s: ")


def test_who_may_be_at_work_is_told() -> None:
    busy, ours = Consumer("w", 1, NOW, None), Consumer("so-host-1-abcd", 0, NOW, None)
    warnings = plan_tend(INTENT, evidence(consumers=(busy, ours))).warnings
    assert warnings[0].startswith("Seen lately, and perhaps still at work on theirs: w (3 s ago).")
    assert warnings[1].startswith("Consumers of streamops are in this group")


def test_the_command_is_the_intent_again() -> None:
    intent = TendIntent(
        stream="my orders",
        group="billing",
        min_idle=timedelta(milliseconds=1500),
        max_deliveries=3,
        dlq="dead",
        redeliver=Redelivery.CLAIM,
        to="w",
        once=True,
    )
    assert plan_tend(intent, evidence()).command == (
        "streamops tend 'my orders' billing --min-idle 1s500ms --max-deliveries 3 --dlq dead --redeliver claim "
        "--to w --once"
    )
