"""Giving pending entries back."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import argument, option


class NackIntent(OperationIntent, frozen=True, kw_only=True):
    """Release pending entries to other consumers.

    Release pending entries, so that another consumer can claim them at once: their idle time is set to 30
    days. Delivery counts stay. `streamops undo` reverses it.
    """

    operation: ClassVar = "nack"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops nack orders billing --ids 1526919030474-0", "one entry"),
        (
            "streamops pending ls orders billing --consumer worker-1 -o jsonl | streamops nack orders billing --from worker-1 --ids - --yes",
            "what a worker holds",
        ),
    )

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    ids: Annotated[
        tuple[EntryId, ...], option("Entry IDs, separated by commas, or - to read them from stdin.")
    ]
    source: Annotated[str | None, option("Only entries of this consumer.", "from", completes="consumers")] = (
        None
    )
