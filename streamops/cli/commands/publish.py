"""``streamops publish``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.publish.intent import PublishIntent

publish = acting_command(
    PublishIntent,
    "publish",
    "Add an entry, or a message that becomes one later.",
    help=(
        "Add an entry to a stream, or with --delay a message that becomes an entry once it is due and a worker of "
        "streamops, or `streamops delayed run-now`, moves it. It is not asked for consent; --dry-run shows the plan."
    ),
    examples=[
        ("streamops publish orders kind=paid amount=120", "one entry"),
        ("streamops publish orders kind=remind --delay 15m", "one that comes in a quarter of an hour"),
        ("streamops publish orders kind=paid --maxlen 100000 --dry-run", "the plan alone"),
    ],
)
