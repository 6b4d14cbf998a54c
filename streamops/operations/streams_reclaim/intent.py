"""Reclaiming a group of whatever library: what it left lying is handled again, or becomes a dead letter."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, option, require_name


class Redelivery(StrEnum):
    """How an entry is handled again."""

    AUTO = "auto"
    """By adding where no other group is on the stream; else it is refused."""

    ADD = "add"
    """Added anew and acknowledged, which works with every library, and reaches every group of the stream."""

    CLAIM = "claim"
    """Given to a consumer that reads its own history, or to nobody, for libraries that reclaim by themselves."""


class ReclaimIntent(OperationIntent, frozen=True, kw_only=True):
    """Reclaim stale pending entries of a group; dead-letter those that keep failing.

    Reclaim pending entries for a group whose client library does not: entries last delivered at least
    --min-idle ago are delivered again, those delivered --max-deliveries times become dead letters, and
    entries deleted while they were pending are recorded there too. It runs once; with --every it repeats
    until Ctrl-C or SIGTERM. The group's workers need no change.

    Entries are delivered again by adding them to the stream anew and acknowledging the old ones in one step,
    which works with every client. Other groups of the stream would get them too: then it is refused unless
    --redeliver says how. --redeliver claim gives them to the consumer --to, which has to read its own
    history, or to none, for libraries that reclaim by themselves.

    Raises:
        ValueError: The one who gets entries has no name that can be read.
    """

    operation: ClassVar = "streams.reclaim"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops streams reclaim orders billing --dry-run", "what it would do now"),
        ("streamops streams reclaim orders billing --yes", "from cron"),
        (
            "streamops streams reclaim orders billing --min-idle 5m --max-deliveries 3 --every 30s --yes",
            "from a service manager",
        ),
    )
    exits: ClassVar = {6: "conflict: the server changed since the plan was made"}
    rated: ClassVar = True

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    min_idle: Annotated[
        timedelta,
        option(
            "Only entries last delivered at least this long ago; choose more than the slowest handler takes."
        ),
    ] = timedelta(seconds=60)
    max_deliveries: Annotated[
        int, option("Dead-letter an entry after this many deliveries.", metavar="N")
    ] = 5
    dlq: Annotated[
        str | None,
        option("Dead-letter queue; default: the configured one, else {STREAM}:dlq.", metavar="KEY"),
    ] = None
    redeliver: Annotated[
        Redelivery,
        option("How to redeliver entries: add them again, or claim them for a consumer."),
    ] = Redelivery.AUTO
    to: Annotated[
        str | None,
        option(
            "With --redeliver claim: the consumer that gets the entries and reads its own history; default: none.",
            completes="consumers",
        ),
    ] = None
    every: Annotated[
        timedelta | None,
        option("Repeat at this interval until stopped; default: run once.", example="30s"),
    ] = None

    def __post_init__(self) -> None:
        if self.to is not None:
            require_name("--to", self.to)
