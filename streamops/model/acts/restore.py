"""Restoring entries from a file."""

from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.fields import argument, inner, option
from streamops.model.ids import EntryId


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


class RestoreFile(Struct, frozen=True, kw_only=True):
    """What a file holds, after all of it was read once.

    Attributes:
        digest: Its digest.
        stamp: Which file it is, its size and when it was last changed: what changes with its content.
        records: Entries.
        streams: The streams that its lines name, at most a few of them.
        first_id: ID of its first entry; none where it has none.
        last_id: ID of its last one.
        disorder: The line whose ID does not come after the one before it; none where they are in order.
        too_wide: Entries with more fields than a script can add.
        sample: The first few entries: ID, fields and bytes.
        taken_back: Entries that it names as not deleted: they do not count.
        cut_off: Whether its last line is not there to its end, and does not count.
    """

    digest: str
    stamp: tuple[int, int, int]
    records: int
    streams: tuple[str, ...]
    first_id: EntryId | None
    last_id: EntryId | None
    disorder: int | None
    too_wide: int
    sample: tuple[tuple[EntryId, int, int], ...]
    taken_back: int = 0
    cut_off: bool = False


class RestoreEvidence(Struct, frozen=True, kw_only=True):
    """What is in the file, and what the server says about where it is to go.

    Attributes:
        identity: Which stream it goes to; none where there is none yet.
        target: Its name.
        file: What the file holds.
        said: Records of the file that were restored there before, as the marker beside the stream says.
        length: Entries in the stream.
        last_generated_id: Its last generated ID; none where there is no such stream.
        groups: Its groups.
    """

    identity: Identity | None
    target: str
    file: RestoreFile
    said: int
    length: int
    last_generated_id: EntryId | None
    groups: tuple[str, ...]
