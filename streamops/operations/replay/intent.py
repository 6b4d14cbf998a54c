"""Replaying dead letters: their entries go back to where they are worked on, and the letters leave their queue."""

from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Struct

from streamops.model.acting import Impact
from streamops.model.fields import inner, option
from streamops.model.selections import DeadLetterSelection

RESERVED = b"_so_"


class ReplayMode(StrEnum):
    """How an entry goes back."""

    REPUBLISH = "republish"
    """As a new entry of the stream, which every group gets; the entry that failed stays as it is."""

    REDELIVER = "redeliver"
    """The stream's own entry is made pending again for the group that gave it up; it has to be there still."""

    RETRY = "retry"
    """As a new entry of the group's retry stream, which streamops workers of that group alone read."""


class ReplayRoute(Struct, frozen=True):
    """Where letters of one kind go.

    Attributes:
        stream: The stream that they name; empty for whatever they name.
        group: The group that they name; empty for none, and where the mode asks for none.
        home: The stream whose groups matter.
        key: The key that is written to.
        to_group: The group that gets them; empty where all do.
        atomic: Whether one script can reach queue, stream and key.
    """

    stream: str
    group: str
    home: str
    key: str
    to_group: str = ""
    atomic: bool = True


class ReplayIntent(DeadLetterSelection, frozen=True, kw_only=True):
    """Replay dead letters.

    Replay dead letters: send each to the stream that it came from, or to another one, and remove it from the
    queue. On one server, or in one slot of a cluster, that is one step; between slots it is effectively once,
    by markers. Fields keep their bytes and their order. Dead letters added during the replay are not
    replayed. Continue an interrupted replay with --resume JOB, or `streamops jobs resume JOB`: nothing is
    lost or sent twice.
    """

    operation: ClassVar = "replay"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops replay '{orders}:dlq' --dry-run", "the plan alone: which entries go to which stream"),
        (
            "streamops replay '{orders}:dlq' --mode retry --since 1h --yes",
            "those of the last hour, to the group that failed",
        ),
        (
            "streamops replay '{orders}:dlq' --where 'fields.country == `\"DE\"`' --edit currency=EUR --rate 50/s --yes",
            "some of them, corrected, slowly",
        ),
    )
    rated: ClassVar = True

    to: Annotated[
        str | None,
        option(
            "Target stream; default: the stream that each came from.",
            metavar="STREAM",
            completes="streams",
        ),
    ] = None
    mode: Annotated[
        ReplayMode | None,
        option(
            "republish: add a new entry for all groups. redeliver: make the entry itself pending again, "
            "for its group only. retry: add a new entry for that group's streamops workers "
            "only. Default: republish; required if the stream has several groups."
        ),
    ] = None
    edit: Annotated[tuple[tuple[bytes, bytes], ...], option("Set this field to this value; repeatable.")] = ()
    foreign_origins: Annotated[
        bool,
        option("Also replay dead letters whose origin is not the queue's own stream."),
    ] = False
    routes: Annotated[tuple[ReplayRoute, ...], inner("Where they go, once that is known.")] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [name for name, _ in self.edit]
        if len(set(names)) < len(names):
            raise ValueError("--edit: one field is given two values")
        if any(name.startswith(RESERVED) for name in names):
            raise ValueError("--edit: fields that begin with _so_ are reserved")
        if self.mode is ReplayMode.REDELIVER and (self.edit or self.to is not None):
            raise ValueError("redeliver delivers the stream's own entry: leave out --edit and --to")
        if self.to is not None and self.foreign_origins:
            raise ValueError("--to sends all dead letters to one stream: leave out --foreign-origins")
        if self.to is not None and self.to == self.queue:
            raise ValueError(f"--to {self.to}: a queue is not replayed into itself")
