"""``trim``: drop the oldest entries of a stream, in slices."""

from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from streamops.model.acting import Job, Plan
from streamops.model.entries import ZERO_ID, EntryId
from streamops.model.wording import counted
from streamops.monitor.inspection import find_stream
from streamops.operations.backups import BackupWriter, part_of
from streamops.operations.losses import TrimEvidence
from streamops.operations.operation import Operation
from streamops.operations.running import Run
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.trim.plan import plan_trim
from streamops.operations.trim.survey import survey_trim
from streamops.operations.walking import count_below
from streamops.wire.reads import read_page
from streamops.wire.server import Server
from streamops.wire.writes.entries import TrimFloor, TrimmedSlice, TrimMode, trim_safely, trim_to

SMALLEST: Final = 100
"""Entries of the smallest slice: a node of a stream holds no more, unless it was configured to."""

FIRST: Final = 500
LARGEST: Final = 5_000
FIRST_BYTES: Final = 1 << 20
AIM: Final = timedelta(milliseconds=1)
"""What a slice should take the server."""

MANY_GROUPS: Final = 200
"""Groups that a slice looks at in that time."""

BACKUP_BYTES: Final = 4 << 20
BACKUP_PAGE: Final = 1_000


class TrimPace:
    """How many entries a slice takes, so that it keeps the server some milliseconds and not more.

    Attributes:
        size: Entries of a slice at most, which a rate may make fewer.
        least: Entries of a slice at least, whatever the rate: with fewer, no node of the stream could go.
    """

    def __init__(self, entry_bytes: int, groups: int = 0) -> None:
        fitting = FIRST_BYTES // max(1, entry_bytes)
        # Where looking at the groups takes as long as a slice should, smaller ones would only look more often.
        self._smallest = max(SMALLEST, min(LARGEST, fitting)) if groups >= MANY_GROUPS else SMALLEST
        self.size = max(self._smallest, min(FIRST, fitting))
        self.least = SMALLEST

    def goes_on(self, done: TrimmedSlice, most: int, left: int) -> bool:
        """Whether there is more to trim after a slice of at most so many entries, of so many that were left."""
        if done.removed:
            self.learn(done.spent)
            return True
        # Perhaps the nodes of this stream are larger.
        self.least = 2 * most
        return most < min(left, LARGEST)

    def learn(self, spent: timedelta | None) -> None:
        """Take into account what a slice took; if that is not known, stay with the size."""
        if spent is not None and spent > AIM:
            self.size = max(self._smallest, int(self.size * (AIM / spent)))
        elif spent is not None and spent < AIM / 2:
            self.size = min(LARGEST, self.size * 2)


async def apply_trim(run: Run, intent: TrimIntent, evidence: TrimEvidence, _: Plan) -> None:
    """Trim slice by slice, until there is nothing left to remove, or as many went as the plan counted."""
    cursor = "" if evidence.asked is None else str(evidence.asked)
    if intent.backup is not None:
        await _write_backup(run, intent, intent.backup, evidence.asked or ZERO_ID)
        # From here on, a resumed job must not write the file again.
        await run.report(0, cursor=cursor, at_once=True)
    pace = TrimPace(evidence.entry_bytes, len(evidence.identity.positions))
    done: TrimmedSlice | None = None
    while size := await run.batch_size(pace.size):
        most = min(run.remaining, max(size, pace.least))
        done = await _trim_slice(run.server, intent, evidence, most)
        if not pace.goes_on(done, most, run.remaining):
            break
        if done.removed:
            run.counts.removed_below = str(done.cut)
            await run.report(done.removed, cursor=cursor)
    await _note_what_stayed(run, intent, evidence, done)


async def _trim_slice(server: Server, intent: TrimIntent, evidence: TrimEvidence, most: int) -> TrimmedSlice:
    how = TrimMode(most, intent.drops_all, evidence.references)
    asked = evidence.asked or ZERO_ID
    if intent.safe:
        bound = asked if intent.maxlen is None else intent.maxlen
        return await trim_safely(server, intent.stream, bound, how)
    floor = TrimFloor(asked, intent.maxlen or 0, evidence.identity.positions)
    return await trim_to(server, intent.stream, floor, how)


async def _note_what_stayed(
    run: Run, intent: TrimIntent, evidence: TrimEvidence, last: TrimmedSlice | None
) -> None:
    """Why fewer went than the plan counted, in numbers that add up with what the outcome says."""
    missing, removable = run.remaining, evidence.removable
    if not missing or last is None:
        return
    uncounted = removable.upper - removable.lower
    why = []
    if missing > uncounted:
        why += await _why_fewer(run.server, intent, evidence, last, missing - uncounted)
    if uncounted:
        why.append(f"the plan named the most that there could be, and had counted {removable.lower:,}")
    run.note(f"{counted(missing, 'entry', 'entries')} fewer than planned: {'; '.join(why)}")


async def _why_fewer(
    server: Server, intent: TrimIntent, evidence: TrimEvidence, last: TrimmedSlice, missing: int
) -> list[str]:
    """Which of them are there yet, and why; the others were gone before it came to them."""
    in_nodes = 0 if intent.drops_all else await _left_below(server, intent, last.cut, missing)
    needed, holder = 0, evidence.holder
    if holder is not None and last.cut < (bound := min(holder.needs, evidence.asked or holder.needs)):
        needed = max(0, await _left_below(server, intent, bound, missing) - in_nodes)
    gone = missing - in_nodes - needed
    said = {
        "were gone by then, removed by other clients": gone,
        f"stay: they are kept for group {last.blocking_group}, from {last.cut} on": needed,
        "stay: an approximate trim drops whole nodes of a stream only; --exact drops the rest": in_nodes,
    }
    return [f"{number:,} {words}" for words, number in said.items() if number > 0]


async def _left_below(server: Server, intent: TrimIntent, cut: EntryId, most: int) -> int:
    """How many entries beyond those to keep are below an ID now, up to this many."""
    look = await find_stream(server, intent.stream)
    if look is None:
        return 0
    below = (await count_below(server, look, cut, enough=most)).upper
    return max(0, min(most, below, look.reading.length - (intent.maxlen or 0)))


async def _write_backup(run: Run, intent: TrimIntent, path: str, cut: EntryId) -> None:
    """Write the entries below an ID to a new file, which has its name once all of them are in it."""
    stream = intent.stream
    # A job that was stopped while writing it had removed nothing yet.
    with BackupWriter(part_of(path), anew=intent.is_rest) as backup:
        after, size = ZERO_ID, 1
        while True:
            entries = await read_page(run.server, stream, after.next(), cut.previous(), size)
            backup.write(stream, entries)
            await run.report(0)
            if len(entries) < size:
                break
            after, weight = entries[-1].id, sum(entry.size for entry in entries) // len(entries)
            size = max(1, min(BACKUP_PAGE, BACKUP_BYTES // max(1, weight)))
        backup.rename(path)
    run.note(f"{counted(backup.written, 'entry was', 'entries were')} written to {path}")


def _resume(intent: TrimIntent, job: Job) -> TrimIntent:
    """The rest: to the same ID as before, though time went on; the backup was complete before the first slice."""
    if not job.cursor:
        return replace(intent, is_rest=True)
    rest = replace(intent, exact=intent.drops_all, backup=None, is_rest=True)
    if intent.safe and intent.before is None:
        return rest
    return replace(rest, maxlen=None, before=None, minid=EntryId.parse(job.cursor))


TRIM = Operation(
    intent=TrimIntent,
    survey=survey_trim,
    plan=plan_trim,
    apply=apply_trim,
    writes=("XTRIM",),
    job_from=100_000,
    resume=_resume,
)
OPERATIONS = (TRIM,)
