"""A plan, the question whether to do it, how far it is, and what became of it."""

from collections.abc import Iterable
from time import monotonic
from typing import Any, ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.widget import Widget

from streamops.errors import StreamopsError
from streamops.model.acting import Confirmation, Environment, Plan
from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy
from streamops.operations.operation import Prepared
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui.acting.answer_row import AnswerRow
from streamops.tui.acting.offers import UNDO
from streamops.tui.keys import Hint, bindings
from streamops.tui.lines import words
from streamops.tui.lines.plan import error_lines, outcome_lines, plan_lines, progress_lines
from streamops.tui.polling.app_state import AppState, RunningOperation
from streamops.tui.routes import Route
from streamops.tui.screens.frame import ActingFrame
from streamops.tui.source import MakePlan, Planning
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import TextView


class PlanScreen(ActingFrame):
    """One plan from its first counting to its outcome.

    Args:
        place: The place that one acts from.
        app_state: What is known now.
        title: The operation's name.
        planning: What to plan; none for a deed that is under way already.
        deed: That deed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(
            up="scroll(-1)",
            down="scroll(1)",
            page_up="page(-1)",
            page_down="page(1)",
            first="top",
            last="bottom",
        ),
        Binding("left", "app.focus_previous", "previous", show=False),
        Binding("right", "app.focus_next", "next", show=False),
    ]

    def __init__(
        self,
        place: Route,
        app_state: AppState,
        title: str,
        planning: Planning | None = None,
        deed: RunningOperation | None = None,
    ) -> None:
        super().__init__(place, app_state, title)
        self.is_undo = title == UNDO
        self._planning = planning
        self._prepared: Prepared[Any, Any] | None = None if deed is None else deed.prepared
        self._agreed_to = self._prepared
        self._before: Plan | None = None
        self._counted_at: float | None = None
        self._counting = False
        self._error: StreamopsError | None = None
        self._deed = deed
        self._view = TextView(id="main")
        self._view.can_focus = False
        self._answer = AnswerRow()

    def compose_body(self) -> Iterable[Widget]:
        """The text, and what to answer."""
        yield self._view
        yield self._answer

    def on_mount(self) -> None:
        """Count for the first time."""
        self.reread()
        self._refresh()

    # -- what arrives --------------------------------------------------------------------------------

    def reread(self) -> None:
        """Count again, as long as nothing was done."""
        if self._planning is not None and self._deed is None and not self._counting:
            self._counting = True
            self.fetch(self._planning.perform, self._take_plan)
            self.show_bars()

    def _take_plan(self, prepared: "Prepared[Any, Any]") -> None:
        self._counting = False
        if self._deed is None:
            self._before = None if self._prepared is None else self._prepared.plan
            self._prepared, self._error = prepared, None
            self._counted_at = monotonic()
            self._refresh()

    def unread(self, error: StreamopsError) -> None:
        """Say why there is no plan."""
        self._counting = False
        if self._deed is None:
            self._error = error
            self._prepared = None
            self._refresh()

    def show_body(self, app_state: AppState) -> None:
        """Take what became of the deed so far."""
        mine = [deed for deed in app_state.deeds if self.tells(deed)]
        if mine and mine[0] is not self._deed:
            self._deed = mine[0]
            self._refresh()

    def tells(self, deed: RunningOperation) -> bool:
        """Whether it is this plan's."""
        return self._deed is not None and self._deed.number == deed.number

    # -- what is answered ----------------------------------------------------------------------------

    def on_answer_row_cancelled(self) -> None:
        """Do nothing, and go."""
        if self._deed is None and self._prepared is not None:
            self.console.say(f"{self.title_word}: cancelled, nothing was done")
        self.console.leave_plan()

    def on_answer_row_agreed(self, message: AnswerRow.Agreed) -> None:
        """Do it."""
        prepared = self._prepared
        if prepared is None or self._counting or prepared is self._agreed_to:
            return
        # A key that is pressed twice says yes once.
        self._agreed_to = prepared
        self._deed = self.console.apply(prepared, Confirmation(yes=True, typed=message.typed))
        self._refresh()

    def on_answer_row_again(self) -> None:
        """Count again after an error, also after one that ended an attempt to do it."""
        self._deed = None
        self.reread()
        self._refresh()

    def cancel(self) -> bool:
        """Stop what is under way before the screen is left; leave the form too if it is over."""
        deed = self._deed
        if deed is not None and deed.running and not deed.stopping:
            self.console.stop_operation(deed.number)
            return True
        if deed is not None and not deed.running:
            self.console.leave_plan()
            return True
        return False

    def action_undo(self) -> None:
        """Plan to undo what was done."""
        if self.console.can("undo") and (audit_id := self._undoable()) is not None:
            self.console.undo(audit_id)

    def why_no_undo(self) -> str:
        """Why the plan cannot be undone; empty if it can."""
        if self._undoable() is not None:
            return ""
        if self._deed is None:
            return "undo: nothing was applied yet"
        return f"undo: {self._deed.name} {'is under way' if self._deed.running else 'cannot be undone'}"

    def command_text(self) -> str:
        """The equivalent command."""
        if self._prepared is not None and self._prepared.plan.command:
            return self._prepared.plan.command
        return super().command_text()

    def copyable(self) -> str | None:
        """The job's token or the audit record's ID, else the target."""
        if self._deed is not None and self._deed.outcome is not None:
            outcome = self._deed.outcome
            return outcome.job or outcome.audit_id or outcome.target
        return None if self._prepared is None else self._prepared.plan.target

    # -- what it shows -------------------------------------------------------------------------------

    def hints(self) -> tuple[Hint, ...]:
        """What the keys do now."""
        deed = self._deed
        if deed is None:
            return (
                "back",
                ("up down", "scroll"),
                ("read_now", "count again"),
                ("copy_command", "copy command"),
            )
        if deed.running:
            leave: tuple[Hint, ...] = (("groups go_to", "leave it running"),)
            return leave if deed.stopping else (("back", "stop after this batch"), *leave)
        undo: tuple[Hint, ...] = ("undo",) if self._undoable() is not None else ()
        return (("back", "close"), *undo, ("copy_id", "copy ID"), "audit")

    def position_words(self) -> Line:
        """When it was counted."""
        if self._deed is not None or (self._counted_at is None and not self._counting):
            return BLANK_LINE
        if self._counting or self._counted_at is None:
            return (Cell("counting ", Tone.UNKNOWN),)
        age = monotonic() - self._counted_at
        return (Cell(f"counted {words.whole_seconds(age)} ago " if age >= 1 else "counted now ", Tone.DIM),)

    def focus_body(self) -> None:
        """Give the keys to the answer."""
        self._answer.take_focus()

    def _undoable(self) -> str | None:
        """The audit record of what can be undone; None if nothing can."""
        return None if self._deed is None else self._deed.undo_id

    def _refresh(self) -> None:
        self._view.show(self._lines)
        self._ask()
        self.show_bars()

    def _lines(self, width: int) -> list[Line]:
        deed = self._deed
        if deed is None:
            return self._plan_lines(width)
        if deed.running:
            return progress_lines(deed, width)
        lines = [] if deed.error is None else error_lines(deed.error, width)
        return lines if deed.outcome is None else [*lines, *outcome_lines(deed.outcome, width)]

    def _plan_lines(self, width: int) -> list[Line]:
        if self._error is not None:
            return error_lines(self._error, width)
        if self._prepared is None:
            return [BLANK_LINE, (Cell(f" counting what {safe(self.title_word)} would act on", Tone.DIM),)]
        chosen = self._planning.chosen if isinstance(self._planning, MakePlan) else ""
        return plan_lines(self._prepared.plan, width, self._before, chosen)

    def _ask(self) -> None:
        deed, prepared = self._deed, self._prepared
        if deed is not None and deed.running:
            self._answer.ask_to_wait(stopping=deed.stopping)
        elif deed is not None:
            self._answer.ask_to_close(again=deed.error is not None and deed.outcome is None)
        elif prepared is None:
            self._answer.ask_to_close(again=self._error is not None)
        elif not prepared.plan.count:
            self._answer.ask_to_close(again=True)
        else:
            self._answer.ask_for(self._policy(prepared), prepared.plan.fingerprint)

    def _policy(self, prepared: "Prepared[Any, Any]") -> ConfirmationPolicy:
        """What has to be answered: outside development the same keys for every plan, those that a command applies at once too."""
        policy = prepared.policy
        careful = self.app_state.context.environment != Environment.DEVELOPMENT
        free = policy.kind is ConfirmationKind.NONE
        return replace(policy, kind=ConfirmationKind.TAB) if careful and free else policy

    # -- keys ----------------------------------------------------------------------------------------

    def action_scroll(self, step: int) -> None:
        """Scroll by lines."""
        self._view.scroll_relative(y=step, animate=False)

    def action_page(self, step: int) -> None:
        """Scroll by pages."""
        self._view.scroll_relative(y=step * max(self._view.size.height - 1, 1), animate=False)

    def action_top(self) -> None:
        """Scroll to the first line."""
        self._view.scroll_home(animate=False)

    def action_bottom(self) -> None:
        """Scroll to the last line."""
        self._view.scroll_end(animate=False)
