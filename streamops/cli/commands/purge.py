"""``streamops dlq purge``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.dlq_purge.intent import PurgeIntent

purge = acting_command(
    PurgeIntent,
    "purge",
    "Delete letters for good.",
    help=(
        "Delete letters of a dead-letter queue. Each is written to a file before it is deleted, which "
        "`streamops restore` reads: without --backup, to a new one under ~/.local/state/streamops/backups. Where the "
        "queue has groups of its own, their lag is not known afterwards."
    ),
    examples=[
        (
            "streamops dlq purge '{orders}:dlq' --until 30d --dry-run",
            "what is older than 30 days: the plan alone",
        ),
        (
            "streamops dlq purge '{orders}:dlq' --because rejected --confirm '{orders}:dlq'",
            "what was rejected",
        ),
    ],
    rated=True,
)
