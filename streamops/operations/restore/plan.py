"""Restoring entries from a file: what file and server say about them, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Identity, Impact, Plan
from streamops.model.ids import EntryId
from streamops.model.wording import counted, first_few
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import ENTRY_UNIT, fingerprint, sample
from streamops.operations.restore.intent import RestoreIntent


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

    identity: Identity | None = None
    target: str
    file: RestoreFile
    said: int
    length: int = 0
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
    return Plan(
        operation="restore",
        target=evidence.target,
        impact=Impact.REDELIVERS,
        count=left,
        unit=ENTRY_UNIT,
        sample=sample(
            f"{one}: {counted(fields, 'field', 'fields')}, {size:,} bytes"
            for one, fields, size in file.sample
        ),
        effects=tuple(_effects(intent, evidence, before)),
        command=equivalent_command("restore", intent),
        confirm=evidence.target,
        warnings=tuple(_warnings(file)),
        fingerprint=fingerprint(
            file.digest, evidence.target, evidence.last_generated_id, before, intent.new_ids
        ),
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


def _effects(intent: RestoreIntent, evidence: RestoreEvidence, before: int) -> Iterator[str]:
    file, target = evidence.file, evidence.target
    left = file.records - before
    if not file.records:
        yield "None of its entries was deleted: there is nothing to restore."
        return
    if not left:
        whole, again = _all_of(file, ENTRY_UNIT)
        yield f"{whole} restored to {target} before, within 7 days; --again restores {again} once more."
        return
    how = (
        "with new IDs, at its end"
        if intent.new_ids
        else f"with their own IDs, {file.first_id} to {file.last_id}"
    )
    yield f"{counted(left, 'entry is', 'entries are')} added to stream {target}, {how}."
    if before:
        yield f"{before:,} of the file's {file.records:,} were restored before: it goes on where that stopped."
    if finds_own_entries(intent, evidence):
        yield "Those that are still there with their own IDs are left out."
    if evidence.identity is None:
        yield f"Stream {target} is created; it has no group."
    elif evidence.groups:
        yield f"All of its groups ({first_few(evidence.groups)}) will be given them."
    yield "Each is added once: stopped at any point, the same command goes on where it stopped, within 7 days."


def _all_of(file: RestoreFile, unit: tuple[str, str]) -> tuple[str, str]:
    """The beginning of a sentence about every record of a file, and how it goes on about them."""
    if file.records == 1:
        return f"The one {unit[0]} of this file was", "it"
    return f"All {counted(file.records, *unit)} of this file were", "them"


def _warnings(file: RestoreFile) -> Iterator[str]:
    if file.cut_off:
        yield "The last line is cut off, and is left out: what it tells was not deleted."
    if file.taken_back:
        told = counted(file.taken_back, "entry of the file was", "entries of the file were")
        yield f"{told} not deleted, as the file says, and will be left out."
    if file.too_wide:
        yield (
            f"{counted(file.too_wide, 'entry has', 'entries have')} more fields than the server's scripts can add, "
            "and will fail."
        )
    if len(file.streams) > 1:
        yield f"The file holds entries of several streams: {first_few(file.streams)}."
