"""``streamops groups create``, ``rewind`` and ``destroy``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.groups_destroy.intent import DestroyGroupIntent
from streamops.operations.groups_rewind.intent import RewindGroupIntent

create = acting_command(
    CreateGroupIntent,
    "create",
    "Create a consumer group.",
    help=(
        "Create a consumer group. Where it begins decides what it is given: the whole stream, what is added from "
        "now on, or what comes after an ID. Servers that count a lag are told the counter that goes with it, so "
        "that the lag is right from the start. A group that stands there already is left as it is."
    ),
    examples=[
        ("streamops groups create orders billing --at 0", "give it the whole stream"),
        (
            "streamops groups create orders billing --at '$' --mkstream",
            "from now on, and create the stream too",
        ),
    ],
    exits={4: "refused: it exists elsewhere, read-only, not permitted, not agreed to"},
)

rewind = acting_command(
    RewindGroupIntent,
    "rewind",
    "Set a group back, or forward.",
    help=(
        "Set a group's position, back or forward. The plan counts the entries that will be delivered again, those of "
        "them that are still pending and would be taken from their owners, or those that will never be delivered. "
        "`streamops undo` sets it where it stood."
    ),
    examples=[
        ("streamops groups rewind orders billing --back 100", "the last hundred once more"),
        (
            "streamops groups rewind orders billing --to-time 2h --dry-run",
            "what the last two hours would mean",
        ),
        ("streamops groups rewind orders billing --to-end --expect 1200", "skip what it has not been given"),
    ],
)


destroy = acting_command(
    DestroyGroupIntent,
    "destroy",
    "Destroy a consumer group.",
    help=(
        "Destroy a consumer group: its position, its consumers and its pending entries. They are first written to a "
        "file: without --backup, to a new one under ~/.local/state/streamops/backups. The plan tells the command line "
        "that creates it anew where it stood. "
        "A group whose consumers have read since the plan was made is left alone."
    ),
    examples=[
        ("streamops groups destroy orders billing --dry-run", "the plan alone: what would be lost"),
        ("streamops groups destroy orders billing --confirm orders/billing", "in a script"),
    ],
)
