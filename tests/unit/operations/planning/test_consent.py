"""What a plan needs before it may be applied: by its impact, and by how much care the place deserves."""

import pytest
from msgspec.structs import replace

from streamops.model.acting import Assent, Environment, Impact, Plan
from streamops.operations.consent import Consent, ConsentKind, required_consent
from tests.support.tables import table

PRODUCTION, STAGING, DEVELOPMENT = Environment.PRODUCTION, Environment.STAGING, Environment.DEVELOPMENT


def plan(impact: Impact, count: int = 3) -> Plan:
    return Plan(operation="ack", target="orders/billing", impact=impact, count=count, confirm="orders")


@table(
    ("impact", "environment", "wanted"),
    [
        (Impact.REVERSIBLE, PRODUCTION, Consent(ConsentKind.TAB)),
        (Impact.REVERSIBLE, STAGING, Consent(ConsentKind.TAB)),
        (Impact.REVERSIBLE, DEVELOPMENT, Consent(ConsentKind.ENTER)),
        (Impact.REDELIVERS, PRODUCTION, Consent(ConsentKind.TYPED, "3")),
        (Impact.REDELIVERS, STAGING, Consent(ConsentKind.TYPED, "3")),
        (Impact.REDELIVERS, DEVELOPMENT, Consent(ConsentKind.TAB)),
        (Impact.DESTRUCTIVE, PRODUCTION, Consent(ConsentKind.TYPED, "orders", by_yes=False)),
        (Impact.DESTRUCTIVE, STAGING, Consent(ConsentKind.TYPED, "orders", by_yes=False)),
        (Impact.DESTRUCTIVE, DEVELOPMENT, Consent(ConsentKind.TYPED, "yes")),
    ],
)
def test_consent_asked_for_rises_with_impact_and_environment(
    impact: Impact, environment: Environment, wanted: Consent
) -> None:
    assert required_consent(plan(impact), environment) == wanted


def test_what_can_be_undone_takes_enter_alone_in_development() -> None:
    undoable = replace(plan(Impact.REDELIVERS), undo="`streamops undo` takes it back.")
    assert required_consent(undoable, DEVELOPMENT) == Consent(ConsentKind.ENTER)


@pytest.mark.parametrize("impact", Impact)
@pytest.mark.parametrize("environment", Environment)
def test_nothing_is_asked_for_where_nothing_is_selected(impact: Impact, environment: Environment) -> None:
    assert required_consent(plan(impact, 0), environment).accepts(Assent())


@pytest.mark.parametrize("impact", Impact)
@pytest.mark.parametrize("environment", Environment)
def test_silence_is_no_consent(impact: Impact, environment: Environment) -> None:
    assert not required_consent(plan(impact), environment).accepts(Assent())


@table(
    ("impact", "environment", "enough"),
    [
        (Impact.REVERSIBLE, PRODUCTION, True),
        (Impact.REDELIVERS, PRODUCTION, True),
        (Impact.DESTRUCTIVE, PRODUCTION, False),
        (Impact.DESTRUCTIVE, STAGING, False),
        (Impact.DESTRUCTIVE, DEVELOPMENT, True),
    ],
)
def test_yes_is_enough_by_impact_and_environment(
    impact: Impact, environment: Environment, *, enough: bool
) -> None:
    assert required_consent(plan(impact), environment).accepts(Assent(yes=True)) is enough


@table("typed", ["order", "orders ", "ORDERS", "yes", "3", ""])
def test_another_name_is_no_consent(typed: str) -> None:
    assert not required_consent(plan(Impact.DESTRUCTIVE), PRODUCTION).accepts(Assent(yes=True, typed=typed))
