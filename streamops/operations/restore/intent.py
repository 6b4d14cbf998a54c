"""Restoring entries from a file."""

from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, inner, option


class RestoreIntent(Struct, frozen=True, kw_only=True):
    """Add the entries of a file to a stream."""

    file: Annotated[
        str,
        argument("JSON lines: what `dlq export` printed, or what was written before something was lost."),
    ]
    to: Annotated[
        str | None,
        option("To this stream; unless given, to the one that the file names.", metavar="STREAM"),
    ] = None
    new_ids: Annotated[
        bool, option("Give the entries new IDs, at the end of the stream, in place of their own.")
    ] = False
    again: Annotated[bool, option("Restore a file once more of which all was restored there before.")] = False
    digest: Annotated[str, inner("The file's digest, by which it is known again.")] = ""
