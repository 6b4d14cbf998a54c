"""Delayed messages: moving them to where they go before they are due, and cancelling them."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact
from streamops.model.fields import backup_file, inner
from streamops.model.selections import DelayedSelection


class RunDelayedIntent(DelayedSelection, frozen=True, kw_only=True):
    """Move delayed messages to their streams now.

    Add delayed messages to their stream, or to the retry stream of their group, at once instead of when they
    are due. Each is added and removed from the queue in one step: none is lost, none is added twice.
    """

    operation: ClassVar = "delayed.run-now"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops delayed run-now orders --ids 4f1c09ab12cd --yes", "one message"),
        ("streamops delayed run-now orders --before 0s --yes", "all due messages, if no worker moves them"),
        (
            "streamops delayed ls orders -o jsonl | streamops delayed run-now orders --ids - --dry-run",
            "IDs from a list: the plan alone",
        ),
    )
    rated: ClassVar = True

    destinations: Annotated[tuple[str, ...], inner("Where they go, once that is known.")] = ()


class CancelDelayedIntent(DelayedSelection, frozen=True, kw_only=True):
    """Remove delayed messages.

    Remove delayed messages, so that they never become entries. Each is written to a file first, which
    `streamops restore` reads: without --backup, to a new one under ~/.local/state/streamops/backups. Orphaned
    bodies, which no member of the queue refers to, are removed too. Members and bodies that another program
    wrote stay.
    """

    operation: ClassVar = "delayed.cancel"
    impact: ClassVar = Impact.DESTRUCTIVE
    examples: ClassVar = (
        ("streamops delayed rm orders --ids 4f1c09ab12cd --confirm orders", "one message"),
        (
            "streamops delayed rm orders --before 1h --dry-run",
            "what is overdue by an hour: the plan alone",
        ),
    )
    rated: ClassVar = True

    backup: Annotated[str | None, backup_file("the messages")] = None
