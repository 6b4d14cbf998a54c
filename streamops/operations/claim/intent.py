"""Taking pending entries over."""

from datetime import timedelta
from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import argument, inner, option, require_name


class ClaimIntent(OperationIntent, frozen=True, kw_only=True):
    """Claim pending entries for another consumer.

    Claim pending entries for another consumer (XCLAIM): those of --from, or of all other consumers, that have
    been idle for --min-idle, lowest IDs first. Entries that change between plan and write are skipped.
    `streamops undo` returns them to their owners.

    Raises:
        ValueError: The new owner has no name that can be read.
    """

    operation: ClassVar = "claim"
    impact: ClassVar = Impact.REVERSIBLE
    examples: ClassVar = (
        ("streamops claim orders billing --to worker-2 --from worker-1", "the entries of a dead worker"),
        (
            "streamops claim orders billing --to rescue --min-idle 1h --count 100",
            "the first 100 of the oldest",
        ),
        (
            "streamops claim orders billing --to rescue --ids 1526919030474-0 --dry-run",
            "the plan for one entry",
        ),
    )
    rated: ClassVar = True

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    to: Annotated[
        str,
        option("The consumer that gets the entries; created if it does not exist.", completes="consumers"),
    ]
    source: Annotated[
        str | None,
        option(
            "Only entries of this consumer; default: of all other consumers.", "from", completes="consumers"
        ),
    ] = None
    min_idle: Annotated[
        timedelta,
        option("Only entries last delivered at least this long ago; 0 takes them from busy workers."),
    ] = timedelta(seconds=60)
    ids: Annotated[
        tuple[EntryId, ...] | None,
        option("Only these entries: IDs separated by commas, or - to read them from stdin."),
    ] = None
    count: Annotated[int | None, option("Claim at most N of them, lowest IDs first.", metavar="N")] = None
    after: Annotated[
        EntryId | None, inner("In the log of versions whose claims were jobs: began after it.")
    ] = None
    until: Annotated[EntryId | None, inner("The same: went no further than to this ID.")] = None

    def __post_init__(self) -> None:
        require_name("--to", self.to)
