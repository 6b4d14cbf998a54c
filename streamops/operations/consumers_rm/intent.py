"""Removing a consumer."""

from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, option, require_name


class RemoveConsumerIntent(Struct, frozen=True, kw_only=True):
    """Remove a consumer, after handing its pending entries to another one.

    ``ValueError`` where that one is itself, or has no name that can be read.
    """

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    consumer: Annotated[str, argument("The consumer to remove.", completes="consumers")]
    to: Annotated[
        str | None,
        option(
            "Who gets its pending entries; needed where it has some.",
            metavar="CONSUMER",
            completes="consumers",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.to is not None:
            require_name("--to", self.to)
        if self.to == self.consumer:
            raise ValueError(f"--to {self.to} is the consumer that is removed: name another one")
