"""Making dead letters of pending entries by hand."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import argument, option


class AddDeadLettersIntent(OperationIntent, frozen=True, kw_only=True):
    """Dead-letter pending entries by ID.

    Dead-letter pending entries, such as poison that a handler cannot process: each is copied to the
    dead-letter queue with its group, delivery count and reason, and acknowledged, in one step inside the
    server. `replay` delivers it again.
    """

    operation: ClassVar = "dlq.add"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops dlq add orders billing --ids 1526919030474-0 --dry-run", "the plan alone"),
        (
            "streamops pending ls orders billing --min-deliveries 5 -o jsonl | streamops dlq add orders billing --ids - --yes",
            "what was delivered five times or more",
        ),
    )

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    ids: Annotated[
        tuple[EntryId, ...], option("Entry IDs, separated by commas, or - to read them from stdin.")
    ]
    because: Annotated[
        str, option("Reason stored with the dead letters; one word.", metavar="WORD", example="poison")
    ] = "operator"
    dlq: Annotated[str | None, option("Dead-letter queue; default: the stream's own.", metavar="KEY")] = None

    def __post_init__(self) -> None:
        if not self.because or len(self.because.split()) > 1:
            raise ValueError("--because: write the reason as one word, such as poison")
