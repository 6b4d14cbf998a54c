"""``streamops consumers rm`` and ``prune``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent

rm = acting_command(
    RemoveConsumerIntent,
    "rm",
    "Hand a consumer's pending entries over and remove it.",
    help=(
        "Remove a consumer from a group. Its pending entries, which would be lost with it, are handed to another "
        "consumer first, with idle times and delivery counts as they are; then it is removed in one step that insists "
        "on it having nothing pending. `streamops undo` gives the entries back."
    ),
    examples=[
        ("streamops consumers rm orders billing worker-7 --to worker-1", "hand over and remove"),
        ("streamops consumers rm orders billing worker-7", "only if it has nothing pending"),
    ],
    exits={
        4: "refused: it has pending entries and nobody gets them, read-only, not permitted, not agreed to"
    },
    rated=True,
)

prune = acting_command(
    PruneConsumersIntent,
    "prune",
    "Remove idle consumers with nothing pending.",
    help=(
        "Remove consumers that have been idle for long and have nothing pending, each in a step that looks again. "
        "Those with pending entries are kept and named."
    ),
    examples=[
        ("streamops consumers prune orders billing", "idle for an hour or more"),
        ("streamops consumers prune orders billing --idle 7d --yes", "in a cron job"),
    ],
)
