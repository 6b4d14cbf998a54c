"""Acknowledging pending entries by hand."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import argument, option


class AckIntent(OperationIntent, frozen=True, kw_only=True):
    """Acknowledge pending entries by ID.

    Acknowledge entries of a group by their IDs, as if its consumers had: the group will not get them again.
    It cannot be undone.
    """

    operation: ClassVar = "ack"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops ack orders billing --ids 1526919030474-0 --dry-run", "show the plan alone"),
        (
            "streamops pending ls orders billing --min-deliveries 5 -o jsonl | streamops ack orders billing --ids - --yes",
            "what was delivered five times or more",
        ),
    )

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    ids: Annotated[
        tuple[EntryId, ...], option("Entry IDs, separated by commas, or - to read them from stdin.")
    ]
