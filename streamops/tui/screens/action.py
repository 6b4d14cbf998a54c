"""One action of the audit log: who, why, its plan, what was before, and what became of it."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType

from streamops.model.acting import Action, AuditRecord
from streamops.model.ids import EntryId
from streamops.model.json_text import encode
from streamops.operations.actions import Before, action_of, state_before
from streamops.present.records import action_facts
from streamops.tui import places
from streamops.tui.acting.messages import UndoAction
from streamops.tui.acting.plan_lines import fact_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import Line
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.source import Source


class ActionScreen(ReadingFrame):
    """What the audit log tells of an action."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("z", "undo", "undo", show=False, id="undo")]
    HINTS = (("z", "undo"), ("↑↓", "scroll"), ("y", "copy ID"), ("esc", "back"))

    def __init__(self, place: places.OneAction, moment: Moment) -> None:
        super().__init__(place, moment)
        self._action = place.action
        self._before = Before((), ())

    async def read(self, source: Source) -> list[AuditRecord]:
        """All its records."""
        return await source.read_action(EntryId.parse(self._action.first.begun_id))

    def take(self, records: list[AuditRecord]) -> None:
        """Take them."""
        read, undone_by = action_of(records), self._action.first.undone_by
        self._action = Action(replace(read.first, undone_by=undone_by), read.last)
        self._before = state_before(records)

    def lines(self, width: int) -> Sequence[Line]:
        """The same facts as on the command line."""
        other = [encode(fact) for fact in self._before.facts]
        return fact_lines(action_facts(self._action, self._before.rows, other), width)

    def copyable(self) -> str:
        """The action's ID."""
        return self._action.first.begun_id

    def action_undo(self) -> None:
        """Plan to undo it."""
        self.post_message(UndoAction(self._action.first.begun_id))
