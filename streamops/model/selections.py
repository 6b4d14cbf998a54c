"""Which dead letters, and which delayed messages, an operation takes."""

from typing import Annotated

from msgspec import Struct

from streamops.model.acting import OperationIntent
from streamops.model.dead_letters import DeadLetterCounts
from streamops.model.entries import ZERO_ID, EntryId
from streamops.model.fields import Instant, argument, inner, option


class DeadLetterSelection(OperationIntent, frozen=True, kw_only=True):
    """Letters of a queue that meet every condition; all of them without any.

    ``ValueError`` where ``count`` is below zero.
    """

    queue: Annotated[str, argument("The dead-letter queue.", completes="queues", metavar="DLQ")]
    because: Annotated[
        str | None,
        option(
            "Only dead letters of this reason: max-deliveries, rejected, timeout, ..., or another program's; `dlq show` counts them.",
            metavar="WORD",
            example="max-deliveries",
            completes="reasons",
        ),
    ] = None
    where: Annotated[
        str | None,
        option(
            "Only dead letters for which this JMESPath expression over {id, time, reason, group, deliveries, error, fields, json} is true.",
            metavar="EXPR",
            example="reason == 'timeout'",
        ),
    ] = None
    since: Annotated[
        Instant | None,
        option("Dead-lettered at or after this time: 2026-03-01T14:00:00Z, or 15m for 15 minutes ago."),
    ] = None
    until: Annotated[Instant | None, option("Dead-lettered at or before this time.")] = None
    ids: Annotated[
        tuple[EntryId, ...],
        option("Only these dead letters: IDs separated by commas, or - to read them from stdin."),
    ] = ()
    count: Annotated[int | None, option("Select at most N, oldest first.")] = None
    after: Annotated[EntryId, inner("Where to begin, exclusive.")] = ZERO_ID
    last: Annotated[EntryId | None, inner("The last one to take; what dies later is not taken.")] = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 0:
            raise ValueError("--count is below zero")

    @property
    def filters(self) -> bool:
        """Whether dead letters have to be looked at one by one to know which are meant."""
        return bool(self.where is not None or self.ids or self.because is not None)


class SelectedDeadLetters(Struct, frozen=True, kw_only=True):
    """What the server says about the dead letters that an operation takes.

    Attributes:
        length: All dead letters of the queue.
        count: Those that are taken.
        tally: Those of them that were counted by kind: all, unless there are very many.
        after: Where they begin, exclusive.
        last: The last one's ID; None if there is none.
        source: The stream that the queue serves; None if nothing says.
        groups: Groups that read the queue itself, with how many dead letters are pending in each.
        absent: How many IDs of a selection are not in the queue.
    """

    length: int
    count: int
    tally: DeadLetterCounts
    after: EntryId
    last: EntryId | None
    source: str | None
    groups: tuple[tuple[str, int], ...] = ()
    absent: int = 0


class DelayedSelection(OperationIntent, frozen=True, kw_only=True):
    """Which messages of a stream's queue are meant.

    ``ValueError`` where nothing says which.
    """

    stream: Annotated[str, argument("The stream in whose queue they wait.", completes="streams")]
    ids: Annotated[
        tuple[str, ...] | None,
        option(
            "A message's ID; repeatable; - reads them from stdin, one a line.",
            metavar="ID",
            exclusive="which",
        ),
    ] = None
    before: Annotated[
        Instant | None,
        option(
            "Only messages due before this: a timestamp, or how long they are overdue.", exclusive="which"
        ),
    ] = None
    every: Annotated[bool, option("All messages of the queue.", flag="--all", exclusive="which")] = False
    queue: Annotated[str, inner("The queue, once it is known by its key.")] = ""

    def __post_init__(self) -> None:
        if self.ids is None and self.before is None and not self.every:
            raise ValueError("give one of --ids, --before and --all")
