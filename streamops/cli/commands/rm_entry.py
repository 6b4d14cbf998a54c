"""``streamops streams rm-entry``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.streams_rm_entry.intent import DeleteIntent

rm_entry = acting_command(
    DeleteIntent,
    "rm-entry",
    "Delete entries by ID, after writing them to a file.",
    help=(
        "Delete entries of a stream by their IDs, for every group. Each is written to a file before it is deleted, "
        "which `streamops restore` reads: without --backup, to a new one under ~/.local/state/streamops/backups. "
        "Rows that are pending stay, and point to nothing; Redis from 8.2.3 on takes them along."
    ),
    examples=[
        (
            "streamops streams rm-entry orders --ids 1526919030474-0 --dry-run",
            "what it would do to which group",
        ),
        (
            "streamops streams search orders --field user=42 -o jsonl | streamops streams rm-entry orders --ids -",
            "every entry of one user",
        ),
    ],
)
