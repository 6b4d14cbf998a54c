"""Purging dead letters."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact
from streamops.model.fields import backup_file
from streamops.model.selections import DeadLetterSelection


class PurgeIntent(DeadLetterSelection, frozen=True, kw_only=True):
    """Delete dead letters for good.

    Delete dead letters of a queue. Each is first written to a file that `streamops restore` reads: without
    --backup, a new one under ~/.local/state/streamops/backups. If the queue has consumer groups, their lag is
    unknown afterwards.
    """

    operation: ClassVar = "dlq.purge"
    impact: ClassVar = Impact.DESTRUCTIVE
    examples: ClassVar = (
        (
            "streamops dlq purge '{orders}:dlq' --until 30d --dry-run",
            "what is older than 30 days: the plan alone",
        ),
        (
            "streamops dlq purge '{orders}:dlq' --because rejected --confirm '{orders}:dlq'",
            "what was rejected",
        ),
    )
    rated: ClassVar = True

    backup: Annotated[str | None, backup_file("the dead letters")] = None
