"""What a plan needs before it may be applied: by its tier, and by how much care the place deserves."""

import pytest
from msgspec.structs import replace

from streamops.model.acting import Assent, Environment, Plan, Tier
from streamops.operations.consent import Consent, ConsentKind, required_consent
from tests.support.tables import table

PRODUCTION, STAGING, DEVELOPMENT = Environment.PRODUCTION, Environment.STAGING, Environment.DEVELOPMENT


def plan(tier: Tier, count: int = 3) -> Plan:
    return Plan(operation="ack", target="orders/billing", tier=tier, count=count, confirm="orders")


@table(
    ("tier", "environment", "wanted"),
    [
        (Tier.REVERSIBLE, PRODUCTION, Consent(ConsentKind.TAB)),
        (Tier.REVERSIBLE, STAGING, Consent(ConsentKind.TAB)),
        (Tier.REVERSIBLE, DEVELOPMENT, Consent(ConsentKind.ENTER)),
        (Tier.REDELIVERS, PRODUCTION, Consent(ConsentKind.TYPED, "3")),
        (Tier.REDELIVERS, STAGING, Consent(ConsentKind.TYPED, "3")),
        (Tier.REDELIVERS, DEVELOPMENT, Consent(ConsentKind.TAB)),
        (Tier.LOSES, PRODUCTION, Consent(ConsentKind.TYPED, "orders", by_yes=False)),
        (Tier.LOSES, STAGING, Consent(ConsentKind.TYPED, "orders", by_yes=False)),
        (Tier.LOSES, DEVELOPMENT, Consent(ConsentKind.TYPED, "yes")),
    ],
)
def test_consent_asked_for_rises_with_tier_and_environment(
    tier: Tier, environment: Environment, wanted: Consent
) -> None:
    assert required_consent(plan(tier), environment) == wanted


def test_what_can_be_undone_takes_enter_alone_in_development() -> None:
    undoable = replace(plan(Tier.REDELIVERS), undo="`streamops undo` takes it back.")
    assert required_consent(undoable, DEVELOPMENT) == Consent(ConsentKind.ENTER)


@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("environment", Environment)
def test_nothing_is_asked_for_where_nothing_is_selected(tier: Tier, environment: Environment) -> None:
    assert required_consent(plan(tier, 0), environment).accepts(Assent())


@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("environment", Environment)
def test_silence_is_no_consent(tier: Tier, environment: Environment) -> None:
    assert not required_consent(plan(tier), environment).accepts(Assent())


@table(
    ("tier", "environment", "enough"),
    [
        (Tier.REVERSIBLE, PRODUCTION, True),
        (Tier.REDELIVERS, PRODUCTION, True),
        (Tier.LOSES, PRODUCTION, False),
        (Tier.LOSES, STAGING, False),
        (Tier.LOSES, DEVELOPMENT, True),
    ],
)
def test_yes_is_enough_by_tier_and_environment(tier: Tier, environment: Environment, *, enough: bool) -> None:
    assert required_consent(plan(tier), environment).accepts(Assent(yes=True)) is enough


@table("typed", ["order", "orders ", "ORDERS", "yes", "3", ""])
def test_another_name_is_no_consent(typed: str) -> None:
    assert not required_consent(plan(Tier.LOSES), PRODUCTION).accepts(Assent(yes=True, typed=typed))
