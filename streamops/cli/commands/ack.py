"""``streamops ack``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.ack.intent import AckIntent

ack = acting_command(
    AckIntent,
    "ack",
    "Acknowledge pending entries by ID.",
    help=(
        "Acknowledge entries of a group by their IDs, as if its consumers had: the group will not get them again. "
        "It cannot be undone."
    ),
    examples=[
        ("streamops ack orders billing --ids 1526919030474-0 --dry-run", "the plan alone"),
        (
            "streamops pending ls orders billing --min-deliveries 5 -o jsonl | streamops ack orders billing --ids - --yes",
            "what was delivered five times or more",
        ),
    ],
)
