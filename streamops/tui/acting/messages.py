"""What the screens of acting pass up."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.message import Message

from streamops.model.acting import Confirmation
from streamops.tui.acting.asks import Planning

if TYPE_CHECKING:  # Who only looks at what was done needs no engine.
    from streamops.operations.operation import Prepared


class ShowPlan(Message):
    """Make a plan and show it.

    Attributes:
        title: The operation's name.
        planning: What to plan.
    """

    def __init__(self, title: str, planning: Planning) -> None:
        super().__init__()
        self.title = title
        self.planning = planning


class Apply(Message):
    """Do what a plan says.

    Attributes:
        prepared: The plan.
        confirmation: The answer to it.
        begun: Told the deed's number, before anything is done.
    """

    def __init__(
        self, prepared: "Prepared[Any, Any]", confirmation: Confirmation, begun: Callable[[int], object]
    ) -> None:
        super().__init__()
        self.prepared = prepared
        self.confirmation = confirmation
        self.begun = begun


class StopOperation(Message):
    """Stop what is under way, after its batch.

    Attributes:
        number: The deed's number.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class UndoAction(Message):
    """Plan to take an action back.

    Attributes:
        audit_id: The action.
    """

    def __init__(self, audit_id: str) -> None:
        super().__init__()
        self.audit_id = audit_id


class LeavePlan(Message):
    """Close the plan and the form it came from."""
