"""``restore``: add the entries of a file to a stream."""

import asyncio
import threading
from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from streamops.errors import Forbidden, StalePlan
from streamops.model.acting import Failed, Plan, Skipped
from streamops.model.entries import EntryId, StreamEntry
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import find_stream
from streamops.operations.operation import Operation, Writes
from streamops.operations.restore.intent import RestoreIntent
from streamops.operations.restore.plan import (
    RestoreEvidence,
    RestoreFile,
    finds_own_entries,
    plan_restore,
    restored_before,
)
from streamops.operations.restore.survey import WIDEST, examine, read_entries
from streamops.operations.running import Run
from streamops.wire.keys import moved_key, require_one_slot
from streamops.wire.reads import read_by_id
from streamops.wire.writes.entries import read_marker, restore_entries

BATCH: Final = 500
BATCH_BYTES: Final = 1 << 20
BATCH_FIELDS: Final = 5_000
"""What one script adds at most: a few milliseconds of the server."""

STILL_THERE: Final = "it still exists under its ID"


async def survey_restore(place: ServerContext, intent: RestoreIntent) -> RestoreEvidence:
    """Read the whole file, and if it is to go."""
    server = place.server
    file = await _examined(intent.file)
    target = _target(intent, file)
    marker = _marker(target, file.digest)
    require_one_slot(server.options.mode, target, marker)
    look = await find_stream(server, target)
    evidence = RestoreEvidence(target=target, file=file, said=await read_marker(server, marker))
    if look is None:
        return evidence
    return replace(
        evidence,
        identity=look.identity,
        length=look.reading.length,
        last_generated_id=look.reading.last_generated_id,
        groups=tuple(group.name for group in look.reading.groups),
    )


async def apply_restore(run: Run, intent: RestoreIntent, evidence: RestoreEvidence, _: Plan) -> None:
    """Add the entries batch by batch."""
    await _Restoring(run, intent, evidence).entries()


class _Restoring:
    """Entries on their way from a file to a stream.

    Attributes:
        done: Records of the file that are dealt with.
    """

    def __init__(self, run: Run, intent: RestoreIntent, evidence: RestoreEvidence) -> None:
        self._run = run
        self._intent = intent
        self._evidence = evidence
        self._marker = _marker(evidence.target, evidence.file.digest)
        self._said = evidence.said
        self._create = evidence.identity is None
        self.done = restored_before(intent, evidence)

    async def entries(self) -> None:
        """Add all that are left."""
        left = read_entries(self._intent.file, self._evidence.file, self.done)
        kept: list[StreamEntry] = []
        while size := await self._run.batch_size(BATCH):
            kept += islice(left, max(0, size - len(kept)))
            if not kept:
                raise StalePlan(
                    f"{self._intent.file} is shorter than when the plan was made", "Make a new plan."
                )
            batch = kept[: _fitting(kept, size)]
            other = await self._add(batch)
            if other is None:
                kept = kept[len(batch) :]
            else:
                kept = await self._catch_up(kept, left, other)

    async def _add(self, batch: list[StreamEntry]) -> int | None:
        """Add some; if another process has done so meanwhile, how far it got."""
        there = await self._still_there(batch)
        narrow = [entry for entry in batch if len(entry.fields) <= WIDEST and entry.id not in there]
        other = await restore_entries(
            self._run.server,
            self._evidence.target,
            self._marker,
            narrow,
            said=self._said,
            says=self.done + len(batch),
            new_ids=self._intent.new_ids,
            create=self._create,
        )
        if other is not None:
            return other
        self.done += len(batch)
        self._said, self._create = self.done, self._create and not narrow
        wide = [entry for entry in batch if len(entry.fields) > WIDEST and entry.id not in there]
        failed = [
            Failed(str(entry.id), f"it has {len(entry.fields):,} fields, more than {WIDEST:,}")
            for entry in wide
        ]
        skipped = [Skipped(str(entry.id), STILL_THERE) for entry in batch if entry.id in there]
        await self._run.report(len(narrow), skipped=skipped, failed=failed)
        return None

    async def _still_there(self, batch: list[StreamEntry]) -> set[EntryId]:
        """Entries that would be there twice, with new IDs: they were written to the file, but not deleted."""
        if not finds_own_entries(self._intent, self._evidence):
            return set()
        ids = [entry.id for entry in batch]
        found = {one.id: one for one in await read_by_id(self._run.server, self._evidence.target, ids)}
        # An ID alone says nothing if a stream was removed and began again.
        return {entry.id for entry in batch if found.get(entry.id) == entry}

    async def _catch_up(
        self, kept: list[StreamEntry], left: Iterator[StreamEntry], other: int
    ) -> list[StreamEntry]:
        """Leave out what another process has restored meanwhile; the rest of what was read."""
        if other <= self.done:
            raise StalePlan(
                f"another process began to restore this file to {self._evidence.target} again",
                "What was done stays done. Run it again for the rest.",
            )
        while self.done < other:
            kept = kept or list(islice(left, BATCH))
            theirs = kept[: other - self.done]
            if not theirs:
                raise StalePlan(
                    f"{self._intent.file} has fewer entries than were restored", "Make a new plan."
                )
            kept = kept[len(theirs) :]
            self.done += len(theirs)
            skipped = [Skipped(str(entry.id), "restored by another process") for entry in theirs]
            await self._run.report(0, skipped=skipped)
        self._said, self._create = self.done, False
        return kept


async def _examined(path: str) -> RestoreFile:
    stop = threading.Event()
    try:
        return await asyncio.to_thread(examine, path, stop.is_set)
    finally:
        # If this was cancelled, the thread would read on to the end of the file.
        stop.set()


def _fitting(entries: list[StreamEntry], most: int) -> int:
    """How many of the first entries one script may add."""
    weight = fields = 0
    for number, entry in enumerate(entries[:most]):
        weight += entry.size
        fields += len(entry.fields)
        if number and (weight > BATCH_BYTES or fields > BATCH_FIELDS):
            return number
    return min(len(entries), most)


def _target(intent: RestoreIntent, file: RestoreFile) -> str:
    if intent.to is not None:
        return intent.to
    if len(file.streams) > 1:
        raise Forbidden(
            f"{intent.file} holds entries of several streams: {', '.join(file.streams)}",
            "Name the target with --to STREAM.",
        )
    return file.streams[0]


def _marker(target: str, digest: str) -> str:
    return moved_key(target, f"restore-{digest[:16]}")


def resolve_restore(intent: RestoreIntent, evidence: RestoreEvidence) -> RestoreIntent:
    """With the stream that it goes to, and the digest of the file that was planned with."""
    return replace(intent, to=evidence.target, digest=evidence.file.digest)


def _writes(intent: RestoreIntent) -> Writes:
    target = intent.to or ""
    return ("XADD", target), ("SET", _marker(target, intent.digest))


RESTORE = Operation(
    intent=RestoreIntent,
    survey=survey_restore,
    plan=plan_restore,
    apply=apply_restore,
    writes=_writes,
    key="to",
    resolve_defaults=resolve_restore,
)
OPERATIONS = (RESTORE,)
