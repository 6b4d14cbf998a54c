"""Deleting entries of a stream."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import argument, backup_file, inner, option


class DeleteIntent(OperationIntent, frozen=True, kw_only=True):
    """Delete entries by ID, after writing them to a file.

    Delete entries of a stream by their IDs, for all groups. Each is first written to a file that `streamops
    restore` reads: without --backup, a new one under ~/.local/state/streamops/backups. Pending rows of
    deleted entries stay and point to nothing; Redis 8.2.3 and later remove them too (DELREF).
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
