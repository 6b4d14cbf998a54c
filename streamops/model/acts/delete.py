"""Deleting entries of a stream."""

from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
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


class GroupEffect(Struct, frozen=True):
    """What a group has to do with entries that are to be deleted.

    Attributes:
        group: Its name.
        unread: How many it has yet to read.
        pending: How many of them are pending, by consumer, the most first.
    """

    group: str
    unread: int
    pending: tuple[tuple[str, int], ...]


class DeleteEvidence(Struct, frozen=True):
    """What the server says about them.

    Attributes:
        identity: Which stream this is, and where its groups stand.
        existing: Those that exist, in the order asked for.
        groups: What each of its groups has to do with those.
        entry_bytes: Size of the larger of the stream's first and last entry.
        counts_lag: Whether this server counts a lag, which an entry deleted ahead of a group makes unknown.
        by_xdelex: Whether the server can delete an entry and its pending rows together, and its version is sound.
    """

    identity: Identity
    existing: tuple[EntryId, ...]
    groups: tuple[GroupEffect, ...]
    entry_bytes: int
    counts_lag: bool
    by_xdelex: bool = False
