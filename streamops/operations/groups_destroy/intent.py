"""Destroying a consumer group."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, backup_file


class DestroyGroupIntent(OperationIntent, frozen=True, kw_only=True):
    """Destroy a consumer group.

    Destroy a consumer group: its position, its consumers and its pending entries. They are first written to a
    file: without --backup, a new one under ~/.local/state/streamops/backups. The plan shows the command that
    creates the group again at its position. A group whose consumers have read since the plan was made is left
    alone.
    """

    operation: ClassVar = "groups.destroy"
    impact: ClassVar = Impact.DESTRUCTIVE
    examples: ClassVar = (
        ("streamops groups rm orders billing --dry-run", "the plan alone: what would be lost"),
        ("streamops groups rm orders billing --confirm orders/billing", "in a script"),
    )

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    backup: Annotated[str | None, backup_file("position and pending rows")] = None
