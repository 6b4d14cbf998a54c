"""What acting is spoken of in: actors, plans and their danger, outcomes, the audit log, and jobs."""

from streamops.model.acting.actors import Actor, Environment, StreamIdentity
from streamops.model.acting.audit import Action, ActionPage, AuditPhase, AuditRecord
from streamops.model.acting.effects import Effect, EffectKind
from streamops.model.acting.intents import OperationIntent
from streamops.model.acting.jobs import Job, JobPage, JobState
from streamops.model.acting.outcomes import KEPT, Failed, Outcome, Progress, Skipped
from streamops.model.acting.plans import LARGEST_SELECTION, Confirmation, Impact, Limits, Plan

__all__ = [
    "KEPT",
    "LARGEST_SELECTION",
    "Action",
    "ActionPage",
    "Actor",
    "AuditPhase",
    "AuditRecord",
    "Confirmation",
    "Effect",
    "EffectKind",
    "Environment",
    "Failed",
    "Impact",
    "Job",
    "JobPage",
    "JobState",
    "Limits",
    "OperationIntent",
    "Outcome",
    "Plan",
    "Progress",
    "Skipped",
    "StreamIdentity",
]
