"""What a plan needs before it may be applied: by its impact, and by how much care the place deserves."""

import pytest
from msgspec.structs import replace

from streamops.model.acting import Confirmation, Environment, Impact, Plan
from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy, required_confirmation
from tests.support.tables import table

PRODUCTION, STAGING, DEVELOPMENT = Environment.PRODUCTION, Environment.STAGING, Environment.DEVELOPMENT


def plan(impact: Impact, count: int = 3) -> Plan:
    return Plan(operation="ack", target="orders/billing", impact=impact, count=count, confirm="orders")


@table(
    ("impact", "environment", "wanted"),
    [
        (Impact.REVERSIBLE, PRODUCTION, ConfirmationPolicy(ConfirmationKind.TAB)),
        (Impact.REVERSIBLE, STAGING, ConfirmationPolicy(ConfirmationKind.TAB)),
        (Impact.REVERSIBLE, DEVELOPMENT, ConfirmationPolicy(ConfirmationKind.ENTER)),
        (Impact.REDELIVERS, PRODUCTION, ConfirmationPolicy(ConfirmationKind.TYPED, "3")),
        (Impact.REDELIVERS, STAGING, ConfirmationPolicy(ConfirmationKind.TYPED, "3")),
        (Impact.REDELIVERS, DEVELOPMENT, ConfirmationPolicy(ConfirmationKind.TAB)),
        (Impact.DESTRUCTIVE, PRODUCTION, ConfirmationPolicy(ConfirmationKind.TYPED, "orders", by_yes=False)),
        (Impact.DESTRUCTIVE, STAGING, ConfirmationPolicy(ConfirmationKind.TYPED, "orders", by_yes=False)),
        (Impact.DESTRUCTIVE, DEVELOPMENT, ConfirmationPolicy(ConfirmationKind.TYPED, "yes")),
    ],
)
def test_consent_asked_for_rises_with_impact_and_environment(
    impact: Impact, environment: Environment, wanted: ConfirmationPolicy
) -> None:
    assert required_confirmation(plan(impact), environment) == wanted


def test_what_can_be_undone_takes_enter_alone_in_development() -> None:
    undoable = replace(plan(Impact.REDELIVERS), undo="`streamops undo` takes it back.")
    assert required_confirmation(undoable, DEVELOPMENT) == ConfirmationPolicy(ConfirmationKind.ENTER)


@pytest.mark.parametrize("impact", Impact)
@pytest.mark.parametrize("environment", Environment)
def test_nothing_is_asked_for_where_nothing_is_selected(impact: Impact, environment: Environment) -> None:
    assert required_confirmation(plan(impact, 0), environment).accepts(Confirmation())


@pytest.mark.parametrize("impact", Impact)
@pytest.mark.parametrize("environment", Environment)
def test_silence_is_no_consent(impact: Impact, environment: Environment) -> None:
    assert not required_confirmation(plan(impact), environment).accepts(Confirmation())


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
    assert required_confirmation(plan(impact), environment).accepts(Confirmation(yes=True)) is enough


@table("typed", ["order", "orders ", "ORDERS", "yes", "3", ""])
def test_another_name_is_no_consent(typed: str) -> None:
    assert not required_confirmation(plan(Impact.DESTRUCTIVE), PRODUCTION).accepts(
        Confirmation(yes=True, typed=typed)
    )
