"""Forgetting a pool of workers."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, backup_file


class RemovePoolIntent(OperationIntent, frozen=True, kw_only=True):
    """Remove the records of a pool that nothing runs.

    Remove the records of a pool that is not in use: its mode and counts, the decisions about it and what its
    controller learned. Streams, groups and workers are not touched. The records are first written to a file:
    without --backup, a new one under ~/.local/state/streamops/backups. It is refused while a controller, a
    supervisor or a worker of the pool is alive.
    """

    operation: ClassVar = "pools.rm"
    impact: ClassVar = Impact.DESTRUCTIVE
    examples: ClassVar = (
        ("streamops pools rm billing --dry-run", "the plan alone: the keys to delete"),
        ("streamops pools rm billing --confirm billing", "in a script"),
    )
    exits: ClassVar = {
        1: "no such pool",
        4: "refused: the pool is in use, read-only, or not permitted",
        6: "the pool was changed since the plan was made",
    }

    pool: Annotated[str, argument("The pool.", completes="pools")]
    backup: Annotated[str | None, backup_file("its records")] = None
