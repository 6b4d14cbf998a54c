"""Jobs as what is acted on."""

from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Job
from streamops.model.fields import argument


class CancelJobIntent(Struct, frozen=True, kw_only=True):
    """Ask a job to stop."""

    job: Annotated[str, argument("The job.", completes="jobs")]


class CancelJobEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        job: The job.
    """

    job: Job
