"""The audit log: all actions, and one with what was before it."""

from collections.abc import Sequence
from typing import ClassVar, Final, TypeAlias

from msgspec.structs import replace

from streamops.model.acting import Action, ActionPage, AuditPhase
from streamops.model.entries import EntryId
from streamops.model.json_text import encode
from streamops.operations.audit import Before, action_of, state_before
from streamops.operations.registry import command_words
from streamops.resources.audit import ACTIONS, action_facts, ending
from streamops.resources.table import Cell, Column, Tone
from streamops.tui import routes
from streamops.tui.keys import Hint
from streamops.tui.lines.details import fact_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.listing import Listing
from streamops.tui.screens.paging import PagedList, PageOfRows
from streamops.tui.screens.read_listing import ReadingFrame
from streamops.tui.source import Source
from streamops.tui.widgets.paint import Line

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


def _with_undoers(newer: Sequence[Action], actions: Sequence[Action]) -> tuple[Action, ...]:
    """Actions, each with the one that took it back: one of them, or one of those that are newer."""
    undoers = {
        undone: action.first.begun_id
        for action in (*newer, *actions)
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


class UndoKeys(Frame):
    """The key of screens of actions that plans to undo one; its hint is there for an action that can be undone alone."""

    def action_here(self) -> Action | None:
        """The action that the key is about; None if there is none."""
        raise NotImplementedError

    def hints(self) -> tuple[Hint, ...]:
        """The keys, without undo if it would do nothing."""
        hints = super().hints()
        return tuple(hint for hint in hints if hint != "undo") if self.why_no_undo() else hints

    def why_no_undo(self) -> str:
        """Why the action cannot be undone; empty if it can."""
        action = self.action_here()
        why = "no action under the cursor" if action is None else why_not_undone(action)
        return f"undo: {why}" if why else ""

    def action_undo(self) -> None:
        """Plan to undo it."""
        if self.console.can("undo") and (action := self.action_here()) is not None:
            self.console.undo(action.first.begun_id)


class AuditScreen(UndoKeys, PagedList[Action, ActionPage]):
    """Actions; the next page is read when the cursor nears the end, ``r`` begins again."""

    keeps_pane = True

    def __init__(self, place: routes.AuditRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, ACTION_LIST)

    async def read_page(self, source: Source, after: ActionPage | None) -> PageOfRows[Action, ActionPage]:
        """Read a page of the log."""
        page = await source.read_actions(after=after)
        newer = () if after is None else self.read_rows
        return _with_undoers(newer, page.actions), None if page.next_id is None else page

    def nothing(self) -> str:
        """Why nothing is listed."""
        return "the audit log is empty: streamops has changed nothing on this server"

    def action_here(self) -> Action | None:
        """The action under the cursor."""
        return self.list.highlighted


ActionInFull: TypeAlias = tuple[Action, Before]


class ActionScreen(UndoKeys, ReadingFrame[ActionInFull]):
    """What the audit log tells of an action."""

    place: routes.ActionRoute

    HINTS: ClassVar[tuple[Hint, ...]] = ("undo", ("up down", "scroll"), ("copy_id", "copy ID"), "back")

    def __init__(self, place: routes.ActionRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self.thing = place.action, Before((), ())

    def action_here(self) -> Action:
        """The action, as far as it is read."""
        return self.place.action if self.thing is None else self.thing[0]

    async def read(self, source: Source) -> ActionInFull:
        """All its records."""
        records = await source.read_action(EntryId.parse(self.copyable()))
        read, undone_by = action_of(records), self.action_here().first.undone_by
        return Action(replace(read.first, undone_by=undone_by), read.last), state_before(records)

    def lines(self, thing: ActionInFull, width: int) -> Sequence[Line]:
        """The same facts as on the command line."""
        action, before = thing
        return fact_lines(action_facts(action, before.rows, [encode(fact) for fact in before.facts]), width)
