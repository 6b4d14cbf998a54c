"""``streamops claim``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.claim.intent import ClaimIntent

claim = acting_command(
    ClaimIntent,
    "claim",
    "Take pending entries over.",
    help=(
        "Make pending entries the property of another consumer: those of --from, or of everybody else, that are "
        "idle for long enough, lowest IDs first. What changes between plan and write is left alone. "
        "`streamops undo` gives them back."
    ),
    examples=[
        ("streamops claim orders billing --to worker-2 --from worker-1", "the entries of a dead worker"),
        (
            "streamops claim orders billing --to rescue --min-idle 1h --count 100",
            "the first 100 of the oldest",
        ),
        (
            "streamops claim orders billing --to rescue --ids 1526919030474-0 --dry-run",
            "the plan for one entry",
        ),
    ],
    rated=True,
)
