"""Deleting entries of a stream."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import argument, backup_file, inner, option


class DeleteIntent(OperationIntent, frozen=True, kw_only=True):
    """Delete entries by ID, after writing them to a file.

    Delete entries of a stream by their IDs, for every group. Each is written to a file before it is deleted,
    which `streamops restore` reads: without --backup, to a new one under ~/.local/state/streamops/backups.
    Rows that are pending stay, and point to nothing; Redis from 8.2.3 on takes them along.
    """

    operation: ClassVar = "streams.rm-entry"
    impact: ClassVar = Impact.DESTRUCTIVE
    examples: ClassVar = (
        (
            "streamops entries rm orders --ids 1526919030474-0 --dry-run",
            "what it would do to which group",
        ),
        (
            "streamops streams search orders --field user=42 -o jsonl | streamops entries rm orders --ids -",
            "every entry of one user",
        ),
    )

    stream: Annotated[str, argument("The stream.", completes="streams")]
    ids: Annotated[
        tuple[EntryId, ...], option("Entry IDs, separated by commas, or - to read them from stdin.")
    ]
    backup: Annotated[str | None, backup_file("the entries")] = None
    by_xdelex: Annotated[
        bool, inner("Whether XDELEX takes the pending rows with them, once that is known.")
    ] = False
