"""Restoring entries from a file: what file and server say about them, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import (
    GIVEN_TO_ALL,
    RESTORED,
    RESTORED_BEFORE,
    STREAM_CREATED,
    TAKEN_OUT,
    TOO_WIDE,
    Said,
)
from streamops.model.entries import EntryId
from streamops.model.fields import Passing
from streamops.model.wording import counted, first_few
from streamops.operations.planning import planned
from streamops.operations.restore.intent import RestoreIntent


class RestoreFile(Struct, frozen=True, kw_only=True):
    """What a file holds, after all of it was read once.

    Attributes:
        digest: Its digest.
        stamp: Which file it is, its size and when it was last changed: what changes with its content.
        records: Entries.
        streams: The streams that its lines name, at most a few of them.
        first_id: ID of its first entry; None if it has none.
        last_id: ID of its last one.
        disorder: The line whose ID does not come after the one before it; None if they are in order.
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
    """What is in the file, and what the server says about if it is to go.

    Attributes:
        identity: Which stream it goes to; None if there is none yet.
        target: Its name.
        file: What the file holds.
        said: Records of the file that were restored there before, as the marker beside the stream says.
        length: Entries in the stream.
        last_generated_id: Its last generated ID; None if there is no such stream.
        groups: Its groups.
    """

    identity: StreamIdentity | None = None
    target: str
    file: RestoreFile
    said: int
    length: Passing[int] = 0
    last_generated_id: EntryId | None = None
    groups: tuple[str, ...] = ()


def restored_before(intent: RestoreIntent, evidence: RestoreEvidence) -> int:
    """How many records need not be restored any more; with a stream that is gone, they are gone too."""
    if evidence.identity is None:
        return 0
    # What was stopped midway goes on, so that the same command can be given again and again.
    return 0 if intent.again and evidence.said == evidence.file.records else evidence.said


def finds_own_entries(intent: RestoreIntent, evidence: RestoreEvidence) -> bool:
    """Whether entries of the file may still be where they go, so that each is looked for before it is added."""
    return intent.new_ids and evidence.identity is not None and evidence.file.streams == (evidence.target,)


def plan_restore(intent: RestoreIntent, evidence: RestoreEvidence) -> Plan:
    """Add the entries of a file to a stream.

    Raises:
        Forbidden: Their own IDs do not fit.
    """
    file, before = evidence.file, restored_before(intent, evidence)
    left = file.records - before
    if left and not intent.new_ids:
        _forbid_unfit(intent, evidence, before)
    return planned(
        intent,
        left,
        target=evidence.target,
        sample=(f"{one}: {counted(size, 'field', 'fields')}, {of:,} bytes" for one, size, of in file.sample),
        effects=_effects(intent, evidence, before) if left else [_nothing_left(file, evidence.target)],
        warnings=[
            file.cut_off and "The last line is incomplete and is left out: its entry was not deleted.",
            TAKEN_OUT(file.taken_back),
            TOO_WIDE(file.too_wide),
            len(file.streams) > 1
            and f"The file holds entries of several streams: {first_few(file.streams)}.",
        ],
    )


def _forbid_unfit(intent: RestoreIntent, evidence: RestoreEvidence, before: int) -> None:
    file, last = evidence.file, evidence.last_generated_id
    if file.disorder is not None:
        raise Forbidden(
            f"{intent.file}: the ID in line {file.disorder:,} does not come after the one before it",
            "A stream's IDs ascend. Add the entries with --new-ids.",
        )
    if not before and last is not None and file.first_id is not None and file.first_id <= last:
        raise Forbidden(
            f"stream {evidence.target} ends at {last}: no entry with an ID from {file.first_id} on can be added before that",
            "Add them at its end with --new-ids, or restore to another stream with --to STREAM.",
        )


def _nothing_left(file: RestoreFile, target: str) -> str:
    if not file.records:
        return "None of its entries was deleted: there is nothing to restore."
    whole = (
        "The one entry of this file was"
        if file.records == 1
        else f"All {file.records:,} entries of this file were"
    )
    again = "it" if file.records == 1 else "them"
    return f"{whole} restored to {target} before, within 7 days; --again restores {again} once more."


def _effects(intent: RestoreIntent, evidence: RestoreEvidence, before: int) -> Iterator[Said]:
    file, target = evidence.file, evidence.target
    own = f"with their own IDs, {file.first_id} to {file.last_id}"
    yield RESTORED(file.records - before, target, "with new IDs, at its end" if intent.new_ids else own)
    yield RESTORED_BEFORE(before, f"{file.records:,}")
    if finds_own_entries(intent, evidence):
        yield "Those that still exist under their IDs are left out."
    if evidence.identity is None:
        yield STREAM_CREATED(1, target, "is created; it has no group")
    yield GIVEN_TO_ALL(len(evidence.groups), names=evidence.groups)
    yield "Each is added once: stopped at any point, the same command continues where it stopped, within 7 days."
