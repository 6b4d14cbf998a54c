"""The audit log: all actions, and one with what was before it."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Final, TypeAlias

from msgspec.structs import replace
from textual.binding import BindingType

from streamops.errors import StreamopsError
from streamops.model.acting import Action, ActionPage, AuditPhase
from streamops.model.entries import EntryId
from streamops.model.json_text import encode
from streamops.operations.audit import Before, action_of, state_before
from streamops.operations.registry import command_words
from streamops.resources.audit import ACTIONS, action_facts, ending
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.keys import Hint, bindings
from streamops.tui.lines import words
from streamops.tui.lines.details import fact_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.screens.listing import Listing, ListScreen
from streamops.tui.screens.read_listing import ReadingFrame
from streamops.tui.source import Source
from streamops.tui.widgets.paint import Line

AHEAD = 20
GLYPHS = {Tone.OK: "✓", Tone.WARN: "▲", Tone.CRITICAL: "✗"}


TOO_LONG: Final = frozenset({"sample", "command"})


def action_lines(action: Action, width: int) -> list[Line]:
    """What the log tells of an action without a further look, in the width of a pane."""
    facts = action_facts(action, (), ())
    return fact_lines((fact for fact in facts if fact.name not in TOO_LONG), width)


def _outcome(action: Action) -> Cell:
    """How it ended, with a glyph; what was undone is over."""
    if action.first.undone_by:
        return Cell("↶ undone", Tone.DIM)
    said = ending(action)
    return Cell(f"{GLYPHS.get(said.tone, '?')} {said.text}", said.tone)


def _with_undoers(actions: Sequence[Action]) -> tuple[Action, ...]:
    """The actions, each with the one that took it back; that came later, so it was read before."""
    undoers = {
        undone: action.first.begun_id
        for action in actions
        if action.last is not None and action.last.phase is AuditPhase.DONE
        for undone in action.last.undoes
    }
    return tuple(
        Action(replace(action.first, undone_by=undoers[action.first.begun_id]), action.last)
        if action.first.begun_id in undoers
        else action
        for action in actions
    )


def _placed(column: Column[Action]) -> Column[Action]:
    column = replace(column, priority=PRIORITIES.get(column.key, column.priority))
    if column.key == "outcome":
        return replace(column, cell=_outcome)
    return replace(column, width=8, flexible=True) if column.key == "operation" else column


# The time says which it is, and ``y`` copies the ID.
PRIORITIES = {"audit_id": 6, "at": 0, "undone_by": 5, "outcome": 0, "who": 0, "applied": 1}
FIRST = ("at", "who", "operation", "target", "outcome", "applied")
SHOWN = sorted(
    map(_placed, ACTIONS.columns),
    key=lambda column: FIRST.index(column.key) if column.key in FIRST else len(FIRST),
)
ACTION_LIST: Final = Listing(
    resource=replace(ACTIONS, columns=tuple(SHOWN)),
    hints=(("open", "details"), "undo", "filter", ("read_now", "reload"), "back"),
    leads=routes.ActionRoute,
    detail=action_lines,
)


def why_not_undone(action: Action) -> str:
    """Why an action cannot be undone; empty if it can, or if the log does not say."""
    plan, outcome = action.first.plan, None if action.last is None else action.last.outcome
    if action.first.undone_by:
        return f"undone already, by {action.first.undone_by}"
    if outcome is not None and not outcome.applied:
        return "it changed nothing"
    if plan is not None and not plan.undo:
        opposite = f"; to reverse it: {plan.opposite}" if plan.opposite else ""
        return f"{command_words(action.first.operation)} has no undo{opposite}"
    return ""


def _undo_words(why: str) -> str:
    return f"undo: {why}" if why else ""


def _hints(hints: tuple[Hint, ...], *, undoable: bool) -> tuple[Hint, ...]:
    return hints if undoable else tuple(hint for hint in hints if hint != "undo")


class AuditScreen(ListScreen[Action]):
    """Actions; the next page is read when the cursor nears the end, ``r`` begins again."""

    keeps_pane = True
    BINDINGS: ClassVar[list[BindingType]] = bindings("undo")

    def __init__(self, place: routes.AuditRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, ACTION_LIST)
        self._actions: tuple[Action, ...] = ()
        self._page: ActionPage | None = None
        self._asked = False
        self._error = ""

    def on_mount(self) -> None:
        """Read the first page."""
        self.reread()

    def reread(self) -> None:
        """Begin again; the rows shown stay until the first page is there."""
        self._ask(None)

    def _take(self, after: ActionPage | None, page: ActionPage) -> None:
        first = after is None
        self._actions = _with_undoers(page.actions if first else (*self._actions, *page.actions))
        self._page, self._asked, self._error = page, False, ""
        self.show_body(self.app_state)

    def unread(self, error: StreamopsError) -> None:
        """Say why there is no page."""
        self._asked, self._error = False, safe(error.message)
        self.show_body(self.app_state)

    def on_line_view_highlighted(self) -> None:
        """Read on where the cursor nears the end."""
        page = self._page
        if self._asked or page is None or page.next_id is None:
            return
        if self.list.cursor >= len(self.list.rows) - AHEAD:
            self._ask(page)

    def rows_of(self, app_state: AppState) -> Sequence[Action]:
        """What was read so far."""
        del app_state
        return self._actions

    def empty_note(self) -> str:
        """Why nothing is listed."""
        if self._error:
            return self._error
        return (
            "reading"
            if self._page is None
            else "the audit log is empty: streamops has changed nothing on this server"
        )

    def position_words(self) -> Line:
        """The cursor, and whether there is more."""
        failed = Cell(f"{self._error}  ", Tone.CRITICAL) if self._error and self._actions else Cell("")
        there_is_more = self._page is not None and self._page.next_id is not None
        more = Cell("and more ", Tone.DIM) if there_is_more else Cell("")
        return (failed, *words.position(self.list.cursor, len(self.list.rows)), more)

    def hints(self) -> tuple[Hint, ...]:
        """Undo for an action that can be undone alone."""
        return _hints(super().hints(), undoable=not self.why_no_undo())

    def why_no_undo(self) -> str:
        """Why the action under the cursor cannot be undone; empty if it can."""
        row = self.list.highlighted
        return _undo_words("no action under the cursor" if row is None else why_not_undone(row))

    def action_undo(self) -> None:
        """Plan to undo the action under the cursor."""
        if self.console.can("undo") and (row := self.list.highlighted) is not None:
            self.console.undo(row.first.begun_id)

    def _ask(self, after: ActionPage | None) -> None:
        self._asked = True
        self.fetch(lambda source: source.read_actions(after=after), partial(self._take, after))


ActionInFull: TypeAlias = tuple[Action, Before]


class ActionScreen(ReadingFrame[ActionInFull]):
    """What the audit log tells of an action."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("undo")
    HINTS: ClassVar[tuple[Hint, ...]] = ("undo", ("up down", "scroll"), ("copy_id", "copy ID"), "back")

    def __init__(self, place: routes.ActionRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._action_place = place
        self.thing = place.action, Before((), ())

    @property
    def _action(self) -> Action:
        return self._action_place.action if self.thing is None else self.thing[0]

    async def read(self, source: Source) -> ActionInFull:
        """All its records."""
        records = await source.read_action(EntryId.parse(self.copyable()))
        read, undone_by = action_of(records), self._action.first.undone_by
        return Action(replace(read.first, undone_by=undone_by), read.last), state_before(records)

    def lines(self, thing: ActionInFull, width: int) -> Sequence[Line]:
        """The same facts as on the command line."""
        action, before = thing
        return fact_lines(action_facts(action, before.rows, [encode(fact) for fact in before.facts]), width)

    def hints(self) -> tuple[Hint, ...]:
        """Undo for an action that can be undone alone."""
        return _hints(self.HINTS, undoable=not self.why_no_undo())

    def why_no_undo(self) -> str:
        """Why it cannot be undone; empty if it can."""
        return _undo_words(why_not_undone(self._action))

    def action_undo(self) -> None:
        """Plan to undo it."""
        if self.console.can("undo"):
            self.console.undo(self._action.first.begun_id)
