"""``streamops undo``."""

from streamops.cli.acting.command import acting_command
from streamops.model.acts.undo import UndoIntent

undo = acting_command(
    UndoIntent,
    "undo",
    "Take an action back.",
    help=(
        "Take an action of the audit log back, as far as that is possible: a claim, a nack, an acknowledgement "
        "while the entries exist, the rewinding of a group. What has changed since is left alone and told."
    ),
    examples=[
        (
            "streamops undo 1526919030474-0 --dry-run",
            "what would be taken back; `streamops audit ls` has the IDs",
        ),
    ],
)
