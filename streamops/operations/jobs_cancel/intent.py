"""Jobs as what is acted on."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument


class CancelJobIntent(OperationIntent, frozen=True, kw_only=True):
    """Ask a job to stop.

    Ask a job to stop after its current batch, in the process that runs it. What it did stays done. A job that
    no process runs any more ends at once. A cancelled job cannot be resumed.
    """

    operation: ClassVar = "jobs.cancel"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (
        ("streamops jobs cancel 4f1c09ab12cd", "it stops after its current batch"),
        ("streamops jobs cancel 4f1c09ab12cd --dry-run", "its operation and progress: the plan alone"),
    )
    exits: ClassVar = {1: "failed; no such job", 4: "refused: it is over, read-only, or not permitted"}

    job: Annotated[str, argument("The job.", completes="jobs")]
