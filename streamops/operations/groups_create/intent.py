"""Creating a consumer group."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, option, require_name


class CreateGroupIntent(OperationIntent, frozen=True, kw_only=True):
    """Create a consumer group.

    Create a consumer group. Its start position decides what it is delivered: the whole stream, what is added
    from now on, or what comes after an ID. Servers that count a lag get the matching entries-read counter, so
    that the lag is right from the start. A group that exists at that position is left as it is.

    Raises:
        ValueError: It has no name that can be read, or a counter that fits nothing.
    """

    operation: ClassVar = "groups.create"
    impact: ClassVar = Impact.REVERSIBLE
    examples: ClassVar = (
        ("streamops groups create orders billing --at 0", "deliver the whole stream"),
        (
            "streamops groups create orders billing --at '$' --mkstream",
            "new entries only; create the stream too",
        ),
    )
    exits: ClassVar = {4: "refused: it exists elsewhere, read-only, not permitted, not confirmed"}

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("The new group's name.")]
    at: Annotated[
        str,
        option(
            "Start position: 0 for the whole stream, $ for new entries only, or the ID to start after.",
            metavar="0|$|ID",
        ),
    ] = "$"
    entries_read: Annotated[
        int | None,
        option("The entries-read counter for --at ID; default: counted.", metavar="N"),
    ] = None
    mkstream: Annotated[bool, option("Create the stream if it does not exist.")] = False

    def __post_init__(self) -> None:
        require_name("the group", self.group)
        if self.entries_read is not None and (self.at == "$" or self.entries_read < 0):
            raise ValueError("--entries-read is 0 or more, and goes with --at ID")
