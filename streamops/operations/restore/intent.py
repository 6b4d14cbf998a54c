"""Restoring entries from a file."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, inner, option


class RestoreIntent(OperationIntent, frozen=True, kw_only=True):
    """Add the entries of a file to a stream.

    Add the entries of a file to a stream: the output of `streamops dlq export` or `streamops streams search
    -o jsonl`, or a backup that was written before entries were deleted. The whole file is read before
    anything is written. Entries keep their IDs, if the stream ends before them, or get new ones. Each is
    added once: after an interruption, the same command continues.
    """

    operation: ClassVar = "restore"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops restore lost.jsonl --to orders:restored", "into a new stream, with their IDs"),
        ("streamops restore lost.jsonl --new-ids", "at the end of the stream they came from"),
    )
    exits: ClassVar = {2: "usage; the file cannot be read, or has lines that are not entries"}
    rated: ClassVar = True

    file: Annotated[
        str,
        argument("JSON lines: the output of `dlq export`, or a backup."),
    ]
    to: Annotated[
        str | None,
        option("Target stream; default: the one that the file names.", metavar="STREAM"),
    ] = None
    new_ids: Annotated[bool, option("Give the entries new IDs, at the end of the stream.")] = False
    again: Annotated[bool, option("Restore the file again, although it was restored there completely.")] = (
        False
    )
    digest: Annotated[str, inner("The file's digest, by which it is known again.")] = ""
