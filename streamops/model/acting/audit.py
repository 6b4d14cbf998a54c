"""What the audit log tells."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from streamops.model.acting.actors import Actor
from streamops.model.acting.outcomes import Outcome
from streamops.model.acting.plans import Plan
from streamops.model.ids import EntryId


class AuditPhase(StrEnum):
    """What an audit record tells of an action."""

    BEGUN = "begun"
    BATCH = "batch"
    DONE = "done"
    FAILED = "failed"
    OTHER = "other"
    """Not one of ours, or of a version to come."""


class AuditRecord(Struct, frozen=True, kw_only=True):
    """One record of the audit log.

    Attributes:
        id: Its ID in the log; the action is known by the ID of its ``begun`` record.
        phase: What it tells.
        begun_id: The action's ``begun`` record; its own ID there.
        at: When, by the server's clock; none where its ID is no time.
        operation: The operation's name.
        target: What it acts on.
        actor: Who.
        reason: Why, in the operator's words.
        intent: The intent as JSON; empty in other records than ``begun``.
        plan: The plan; only in ``begun``.
        outcome: The outcome; only in ``done`` and ``failed``.
        undo: What undoing needs, as the operation packed it; only in ``batch`` and ``done``.
        undoes: The actions that this one takes back, the one that was asked for first; none where it takes none back.
        undone_by: The action that undid it; empty where none did.
        continues: The action whose job it goes on with; only in ``begun``, and empty where it begins anew.
        snapshot_stream: The stream beside which its scripts keep rows as they were; only in ``begun``.
    """

    id: str
    phase: AuditPhase
    begun_id: str
    at: datetime | None
    operation: str
    target: str
    actor: Actor
    reason: str = ""
    intent: bytes = b""
    plan: Plan | None = None
    outcome: Outcome | None = None
    undo: bytes = b""
    undoes: tuple[str, ...] = ()
    undone_by: str = ""
    continues: str = ""
    snapshot_stream: str = ""


class Action(Struct, frozen=True):
    """One action as the audit log tells it.

    Attributes:
        first: Its ``begun`` record, with the plan; its last one where the log no longer holds that.
        last: Its last record, with the outcome; none while it is under way, and where it was cut off.
    """

    first: AuditRecord
    last: AuditRecord | None = None


class ActionPage(Struct, frozen=True):
    """Some actions of the audit log, newest first.

    Attributes:
        actions: The actions.
        next_id: Where the next page begins; none where there is no more.
        loose: Last records whose first ones are on a later page.
    """

    actions: tuple[Action, ...]
    next_id: EntryId | None = None
    loose: tuple[AuditRecord, ...] = ()
