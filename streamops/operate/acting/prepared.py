"""A plan that is ready to be shown, and then applied or dropped."""

from typing import Generic

from msgspec import Struct

from streamops.model.acting import Identity, Job, Limits, Plan
from streamops.operate.acting.operation import Evidence, Intent, Operation
from streamops.plans.consent import Consent


class Prepared(Struct, Generic[Intent, Evidence], frozen=True):
    """A plan with what it was made from, to be shown and then applied or dropped. A dry run drops it.

    Attributes:
        operation: The operation.
        intent: What was asked for, with what the evidence decided.
        evidence: What the server said.
        plan: What would be done.
        consent: What has to be answered first.
        limits: What the operator insists on.
        identity: Which server and stream it was made on; none where the operation has no stream.
        job: The job that it goes on with; none for a new action.
        undoes: The actions that it takes back; none where it takes none back.
    """

    operation: Operation[Intent, Evidence]
    intent: Intent
    evidence: Evidence
    plan: Plan
    consent: Consent
    limits: Limits
    identity: Identity | None
    job: Job | None = None
    undoes: tuple[str, ...] = ()

    @property
    def is_job(self) -> bool:
        """Whether it is long enough to be a job, or the rest of one. What goes on until it is stopped has no rest."""
        bound = self.operation.job_from
        long = bound is not None and self.plan.count >= bound and not self.plan.standing
        return self.job is not None or long
