"""``streamops restore``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.restore.intent import RestoreIntent

restore = acting_command(
    RestoreIntent,
    "restore",
    "Add the entries of a file to a stream.",
    help=(
        "Add the entries of a file to a stream: one that `streamops dlq export` or `streamops streams search -o jsonl` "
        "printed, or a backup that was written before entries were lost. All of the file is read before anything is "
        "written. Entries keep their IDs, which takes a stream that ends before them, or get new ones. Each is added "
        "once: stopped at any point, the same command goes on."
    ),
    examples=[
        ("streamops restore lost.jsonl --to orders:restored", "into a new stream, with the IDs they had"),
        ("streamops restore lost.jsonl --new-ids", "back into the stream that they were of, at its end"),
    ],
    exits={2: "usage; or the file cannot be read, or has lines that are no entries"},
    rated=True,
)
