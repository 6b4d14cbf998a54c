"""Deleting entries of a stream."""

from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, backup_file, inner, option
from streamops.model.ids import EntryId


class DeleteIntent(Struct, frozen=True, kw_only=True):
    """Delete entries of a stream by their IDs, after writing them to a file."""

    stream: Annotated[str, argument("The stream.", completes="streams")]
    ids: Annotated[tuple[EntryId, ...], option("The entries: IDs with commas between, or - to read them.")]
    backup: Annotated[str | None, backup_file("the entries")] = None
    by_xdelex: Annotated[
        bool, inner("Whether XDELEX takes the pending rows with them, once that is known.")
    ] = False
