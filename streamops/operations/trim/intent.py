"""Trimming a stream."""

from datetime import timedelta
from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import argument, inner, option


class TrimIntent(OperationIntent, frozen=True, kw_only=True):
    """Trim a stream's oldest entries; safe by default.

    Remove the oldest entries of a stream by length, ID or age. It is safe unless --unsafe is given: what any
    group has yet to read or acknowledge stays, and the plan names the group and the consumer that hold it
    back.

    With --policies instead of a stream, apply the [[retention]] tables of the configuration, always safely.
    An error on one stream does not stop the others.

    Raises:
        ValueError: Not exactly one of the three bounds is given, or a bound cannot be.
    """

    operation: ClassVar = "trim"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops trim orders --maxlen 1000000", "keep about a million entries, and what groups need"),
        ("streamops trim orders --before 7d --exact --dry-run", "what a week's retention would remove"),
        (
            "streamops trim orders --maxlen 1000 --unsafe --backup lost.jsonl --confirm orders",
            "even entries still needed; back them up first",
        ),
        ("streamops trim --policies --every 10m --yes", "a service that applies the configuration"),
    )
    exits: ClassVar = {5: "partly done; with --policies, not for every stream"}
    rated: ClassVar = True

    stream: Annotated[str, argument("The stream.", completes="streams")]
    maxlen: Annotated[int | None, option("Keep the N newest entries.", metavar="N", exclusive="bound")] = None
    minid: Annotated[
        EntryId | None, option("Remove entries with a smaller ID.", metavar="ID", exclusive="bound")
    ] = None
    before: Annotated[
        timedelta | None,
        option("Remove entries older than this, by the server's clock.", metavar="AGE", exclusive="bound"),
    ] = None
    exact: Annotated[
        bool,
        option(
            "Remove exactly up to the limit; default: whole nodes of the stream only (~), which is cheaper."
        ),
    ] = False
    safe: Annotated[
        bool,
        option(
            "Keep what any group has not read and acknowledged (default); --unsafe removes it too, and "
            "asks for the stream's name.",
            off="unsafe",
        ),
    ] = True
    backup: Annotated[
        str | None, option("Back up the entries to this new file; only with --unsafe.", metavar="FILE")
    ] = None
    is_rest: Annotated[bool, inner("Whether it is the rest of a job.")] = False

    def __post_init__(self) -> None:
        bounds = [bound for bound in (self.maxlen, self.minid, self.before) if bound is not None]
        if len(bounds) != 1:
            raise ValueError("give one of --maxlen, --minid and --before")
        if self.maxlen is not None and self.maxlen < 0:
            raise ValueError("--maxlen is below zero")
        if self.before is not None and self.before < timedelta(0):
            raise ValueError("--before is in the future")
        if self.backup is not None and self.safe:
            raise ValueError(
                "--backup goes with --unsafe: what a safe trim removes, every group has acknowledged"
            )

    @property
    def drops_all(self) -> bool:
        """Whether it goes to the last entry: what stays for being part of a node must not stand in a backup."""
        return self.exact or self.backup is not None
