"""What a plan needs before it may be applied, by its impact and by how much care the place deserves."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from streamops.model.acting import (
    Confirmation,
    Environment,
    Impact,
    Plan,
)

YES: Final = "yes"


class ConfirmationKind(StrEnum):
    """How consent is given in the console; ``--yes`` or ``--confirm`` give it on a command line."""

    NONE = "none"
    ENTER = "enter"
    TAB = "tab"
    TYPED = "typed"


class ConfirmationPolicy(Struct, frozen=True):
    """What has to be answered.

    Attributes:
        kind: How.
        word: What has to be typed, where something has to be.
        by_yes: Whether ``--yes`` is enough on a command line.
    """

    kind: ConfirmationKind
    word: str = ""
    by_yes: bool = True

    def accepts(self, confirmation: Confirmation) -> bool:
        """Whether an answer is enough."""
        if self.kind is ConfirmationKind.NONE:
            return True
        if self.kind is ConfirmationKind.TYPED and confirmation.typed == self.word:
            return True
        return confirmation.yes and self.by_yes


def required_confirmation(plan: Plan, environment: Environment) -> ConfirmationPolicy:
    """What a plan needs: nothing if it selects nothing, more the more it can lose."""
    cautious = environment is not Environment.DEVELOPMENT
    if plan.idle:
        return ConfirmationPolicy(ConfirmationKind.NONE)
    if plan.impact is Impact.DESTRUCTIVE:
        # A name may be empty, and an answer without a word must not be the right one.
        return ConfirmationPolicy(
            ConfirmationKind.TYPED, (plan.confirm if cautious else "") or YES, by_yes=not cautious
        )
    if not cautious:
        return ConfirmationPolicy(ConfirmationKind.TAB if plan.irreversible else ConfirmationKind.ENTER)
    if plan.impact is Impact.REDELIVERS:
        # What goes on is agreed to whatever it counts first.
        return ConfirmationPolicy(
            ConfirmationKind.TYPED, (plan.confirm if plan.recurring else "") or str(plan.count)
        )
    return ConfirmationPolicy(ConfirmationKind.TAB)
