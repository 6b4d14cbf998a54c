"""Removing a consumer."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, option, require_name


class RemoveConsumerIntent(OperationIntent, frozen=True, kw_only=True):
    """Hand a consumer's pending entries over and remove it.

    Remove a consumer from a group. Its pending entries, which would be lost with it, are first handed to
    another consumer with their idle times and delivery counts; then it is removed in one step that checks
    that it has nothing pending. `streamops undo` returns the entries.

    Raises:
        ValueError: That one is itself, or has no name that can be read.
    """

    operation: ClassVar = "consumers.rm"
    impact: ClassVar = Impact.REVERSIBLE
    examples: ClassVar = (
        ("streamops consumers rm orders billing worker-7 --to worker-1", "hand over and remove"),
        ("streamops consumers rm orders billing worker-7", "only if it has nothing pending"),
    )
    exits: ClassVar = {
        4: "refused: it has pending entries and no consumer to take them, read-only, not permitted, not confirmed"
    }
    rated: ClassVar = True

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    consumer: Annotated[str, argument("The consumer to remove.", completes="consumers")]
    to: Annotated[
        str | None,
        option(
            "The consumer that gets its pending entries; required if it has any.",
            metavar="CONSUMER",
            completes="consumers",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.to is not None:
            require_name("--to", self.to)
        if self.to == self.consumer:
            raise ValueError(f"--to {self.to} is the consumer that is removed: name another one")
