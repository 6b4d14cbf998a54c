"""``streamops tend``."""

from streamops.cli.acting.command import acting_command
from streamops.model.acts.tend import TendIntent

tend = acting_command(
    TendIntent,
    "tend",
    "Give a group of any library reclaiming and dead letters.",
    help=(
        "Look after a group whose library or language does not: pending entries that nobody was given for "
        "--min-idle are handled again, those delivered --max-deliveries times become dead letters, and entries "
        "deleted while they were pending are put on record. It goes on, looking again --every so often, until it is "
        "stopped by Ctrl-C or SIGTERM, or after one look with --once. Its workers need not know.\n\n"
        "Entries are handled again by adding them anew and acknowledging the old ones in one step, which works with "
        "every library. Other groups of the stream would get them too: then it is refused unless --redeliver says "
        "how. --redeliver claim gives them to the consumer --to, which has to read its own history, or to nobody, "
        "for libraries that reclaim by themselves."
    ),
    examples=[
        ("streamops tend orders billing --dry-run", "what it would do now"),
        ("streamops tend orders billing --min-idle 5m --max-deliveries 3 --yes", "from a service manager"),
        ("streamops tend orders billing --once --yes", "from cron"),
    ],
    exits={6: "the server is no longer as the plan saw it"},
)
