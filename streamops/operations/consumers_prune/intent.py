"""Removing idle consumers."""

from datetime import timedelta
from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, option


class PruneConsumersIntent(OperationIntent, frozen=True, kw_only=True):
    """Remove idle consumers with nothing pending.

    Remove consumers that have been idle for --idle and have nothing pending; each is checked again in the
    step that removes it. Those with pending entries are kept and listed.
    """

    operation: ClassVar = "consumers.prune"
    impact: ClassVar = Impact.REVERSIBLE
    examples: ClassVar = (
        ("streamops consumers prune orders billing", "idle for an hour or more"),
        ("streamops consumers prune orders billing --idle 7d --yes", "in a cron job"),
    )

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    idle: Annotated[timedelta, option("Only consumers idle for at least this long.")] = timedelta(hours=1)
