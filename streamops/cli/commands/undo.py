"""``streamops undo``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.undo.intent import UndoIntent

undo = acting_command(
    UndoIntent,
    "undo",
    "Take an action back.",
    help=(
        "Take an action of the audit log back whose inverse is exact: a claim, a nack, the removal of a consumer, "
        "the rewinding of a group. What has changed since is left alone and told."
    ),
    examples=[
        (
            "streamops undo 1526919030474-0 --dry-run",
            "what would be taken back; `streamops audit ls` has the IDs",
        ),
    ],
)
