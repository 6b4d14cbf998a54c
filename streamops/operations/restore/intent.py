"""Restoring entries from a file."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, inner, option


class RestoreIntent(OperationIntent, frozen=True, kw_only=True):
    """Add the entries of a file to a stream.

    Add the entries of a file to a stream: one that `streamops dlq export` or `streamops streams search -o
    jsonl` printed, or a backup that was written before entries were lost. All of the file is read before
    anything is written. Entries keep their IDs, which takes a stream that ends before them, or get new ones.
    Each is added once: stopped at any point, the same command goes on.
    """

    operation: ClassVar = "restore"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops restore lost.jsonl --to orders:restored", "into a new stream, with the IDs they had"),
        ("streamops restore lost.jsonl --new-ids", "back into the stream that they were of, at its end"),
    )
    exits: ClassVar = {2: "usage; or the file cannot be read, or has lines that are no entries"}
    rated: ClassVar = True

    file: Annotated[
        str,
        argument("JSON lines: what `dlq export` printed, or what was written before something was lost."),
    ]
    to: Annotated[
        str | None,
        option("Target stream; default: the one that the file names.", metavar="STREAM"),
    ] = None
    new_ids: Annotated[bool, option("Give the entries new IDs, at the end of the stream.")] = False
    again: Annotated[bool, option("Restore a file again that was restored there completely.")] = False
    digest: Annotated[str, inner("The file's digest, by which it is known again.")] = ""
