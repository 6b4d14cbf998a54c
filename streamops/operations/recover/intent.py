"""Refilling a Redis that was lost from the log of webhooks."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import Instant, argument, inner, option


class RecoverIntent(OperationIntent, frozen=True, kw_only=True):
    """Refill a lost Redis from the request and result log.

    Compare the log of `streamops webhooks serve --log-level info --log-format json --log-bodies 64kb` with Redis, and
    add the messages that were accepted but neither delivered, given up nor cancelled, and that Redis no longer
    holds. They keep their IDs and due times; those that are overdue are sent at once. A message that the log says
    was delivered is never added. Stopped at any point, the same command goes on: what was added is found by its ID.
    """

    operation: ClassVar = "topics.recover"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops webhooks recover webhooks.log --since 2h --dry-run", "what is missing: the plan alone"),
        (
            "streamops webhooks recover webhooks.log --lost us --context us --yes",
            "the share of one Redis of a pool",
        ),
    )
    exits: ClassVar = {2: "usage; or the log cannot be read, or has no line in JSON"}
    rated: ClassVar = True

    file: Annotated[str, argument("The log: lines of `webhooks serve` in JSON.")]
    since: Annotated[
        Instant | None,
        option("Messages accepted since this time: a timestamp, or how long ago; default: the whole log."),
    ] = None
    lost: Annotated[
        str | None,
        option("The lost context, in a log that has messages of several.", metavar="CONTEXT"),
    ] = None
    queues: Annotated[
        tuple[str, ...], inner("The queues that messages are added to, once they are known.")
    ] = ()
