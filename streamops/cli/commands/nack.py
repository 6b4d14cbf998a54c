"""``streamops nack``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.nack.intent import NackIntent

nack = acting_command(
    NackIntent,
    "nack",
    "Give pending entries back.",
    help=(
        "Give entries back, so that another consumer gets them at once, by making them look idle for 30 days. "
        "Deliveries stay as counted. `streamops undo` takes it back."
    ),
    examples=[
        ("streamops nack orders billing --ids 1526919030474-0", "one entry"),
        (
            (
                "streamops pending ls orders billing --consumer worker-1 -o jsonl "
                "| streamops nack orders billing --from worker-1 --ids - --yes"
            ),
            "what a worker holds",
        ),
    ],
)
