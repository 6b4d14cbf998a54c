"""Jobs as what is acted on."""

from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument


class CancelJobIntent(Struct, frozen=True, kw_only=True):
    """Ask a job to stop."""

    job: Annotated[str, argument("The job.", completes="jobs")]
