"""``streamops streams reclaim``."""

from streamops.cli.acting.command import acting_command
from streamops.operations.streams_reclaim.intent import ReclaimIntent

reclaim = acting_command(
    ReclaimIntent,
    "reclaim",
    "Reclaim stale pending entries of a group; dead-letter those that keep failing.",
    help=(
        "Look after a group whose library or language does not: pending entries that nobody was given for "
        "--min-idle are handled again, those delivered --max-deliveries times become dead letters, and entries "
        "deleted while they were pending are put on record. It looks once; with --every it goes on until it is "
        "stopped by Ctrl-C or SIGTERM. The group's workers need not know.\n\n"
        "Entries are handled again by adding them anew and acknowledging the old ones in one step, which works with "
        "every library. Other groups of the stream would get them too: then it is refused unless --redeliver says "
        "how. --redeliver claim gives them to the consumer --to, which has to read its own history, or to nobody, "
        "for libraries that reclaim by themselves."
    ),
    examples=[
        ("streamops streams reclaim orders billing --dry-run", "what it would do now"),
        ("streamops streams reclaim orders billing --yes", "from cron"),
        (
            "streamops streams reclaim orders billing --min-idle 5m --max-deliveries 3 --every 30s --yes",
            "from a service manager",
        ),
    ],
    exits={6: "the server is no longer as the plan saw it"},
    rated=True,
)
