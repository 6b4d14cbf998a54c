"""Writes the audit log: the records of an action before, while and after it is done or resumed."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

from msgspec import Struct

from streamops.errors import Forbidden, StreamopsError
from streamops.model.acting import Actor, AuditPhase, AuditRecord, Job, Outcome, Plan
from streamops.model.entries import EntryId
from streamops.operations.audit import ENDS, read_action
from streamops.operations.packing import pack
from streamops.operations.undo_snapshots import in_records, pack_pages, snapshot_key
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT, drop_pages, read_snapshot, write_record


class AuditWriter:
    """The records of one action.

    Attributes:
        id: The action's ID, that of its first record; empty if none could be written.
        actor: Who writes them.
        snapshot: The hash in which scripts keep rows as they were, until they are put into the log; empty if nowhere.
    """

    def __init__(self, server: Server, actor: Actor) -> None:
        self._server = server
        self.actor = actor
        self._head: dict[str, bytes] = {}
        self.id = ""
        self.snapshot = ""
        self._gathering: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, server: Server, actor: Actor, begun: AuditRecord) -> "AuditWriter":
        """The records of an action that another process began, to be ended by the one that takes it over."""
        audit = cls(server, actor)
        audit.id = begun.id
        audit._head = audit._said_of(begun.operation, begun.target)
        audit.snapshot = snapshot_key(server, begun.snapshot_stream, begun.id)
        return audit

    async def begin(
        self,
        plan: Plan,
        intent: Struct,
        reason: str,
        *,
        unaudited: bool,
        undoes: Sequence[str] = (),
        continues: str = "",
        snapshot_stream: str = "",
    ) -> None:
        """Write the first record, before anything else is written.

        Args:
            plan: The plan.
            intent: What was asked for.
            reason: Why.
            unaudited: Whether to go on if it cannot be written.
            undoes: The actions that this one takes back; None if it takes none back.
            continues: The action whose job it goes on with; empty if it begins again.
            snapshot_stream: The stream beside which its scripts keep rows; empty if they keep none.

        Raises:
            Forbidden: It cannot be written, and ``unaudited`` does not allow that.
        """
        self._head = self._said_of(plan.operation, plan.target)
        if undoes:
            self._head["undoes"] = " ".join(undoes).encode()
        record = {"reason": _bytes(reason), "intent": pack(intent), "plan": pack(plan)}
        if continues:
            record["continues"] = continues.encode()
        if snapshot_stream:
            record["keeps_beside"] = _bytes(snapshot_stream)
        try:
            self.id = await self._write(AuditPhase.BEGUN, record)
            self.snapshot = snapshot_key(self._server, snapshot_stream, self.id)
        except StreamopsError as error:
            if not unaudited:
                raise Forbidden(
                    f"the audit log {AUDIT} cannot be written: {error.message.removeprefix(AUDIT + ': ')}",
                    "Nothing was done. Get the permission (`streamops doctor --acl operator`), or act "
                    "without a record by --unaudited.",
                ) from None

    async def batch(self, undo: bytes) -> None:
        """Keep what undoing a batch needs; raises ``ServerError`` if that fails."""
        if self.id:
            await self._write(AuditPhase.BATCH, {"undo": undo})

    async def gather_ahead(self) -> None:
        """Begin to ``gather``, while the next batches are done; raises what came of the last time."""
        await self._gathered()
        self._gathering = asyncio.create_task(self._gather())

    async def gather(self) -> None:
        """Put into the log what scripts kept beside the stream; raises ``ServerError`` if that fails."""
        await self._gathered()
        await self._gather()

    async def _gathered(self) -> None:
        gathering, self._gathering = self._gathering, None
        if gathering is not None:
            await gathering

    async def _gather(self) -> None:
        kept = await read_snapshot(self._server, self.snapshot) if self.snapshot else []
        for pages in in_records(kept):
            # Compressing takes milliseconds, in which the server is to be told what to do next.
            undo = await asyncio.to_thread(pack_pages, [page.rows for page in pages])
            await self.batch(undo)
            await drop_pages(self._server, self.snapshot, pages)

    async def end(self, outcome: Outcome, phase: AuditPhase) -> None:
        """Write the last record; raises ``ServerError`` if that fails."""
        if self.id:
            await self._write(phase, {"outcome": pack(outcome)})

    def _said_of(self, operation: str, target: str) -> dict[str, bytes]:
        """What each record of an action says: what is done, and who does it."""
        actor = self.actor
        return {
            "operation": operation.encode(),
            "target": _bytes(target),
            "user": _bytes(actor.user),
            "host": _bytes(actor.host),
            "pid": str(actor.pid).encode(),
            "context": _bytes(actor.context),
            "environment": actor.environment.encode(),
        }

    async def _write(self, phase: AuditPhase, fields: Mapping[str, bytes]) -> str:
        record = {"phase": phase.encode(), "begun": self.id.encode(), **self._head, **fields}
        return str(await write_record(self._server, record))


async def end_orphan(server: Server, actor: Actor, job: Job, *, rest: int, then: str) -> None:
    """End the records of an abandoned job's last action, if it has no end; what cannot be read is left alone.

    Args:
        server: Where.
        actor: Who goes on with it, or ends it.
        job: The job as its owner left it.
        rest: Units that are left to do, as far as is known.
        then: What became of it, in words.
    """
    with suppress(StreamopsError, ValueError):
        records = await read_action(server, EntryId.parse(job.audit_id))
        if records[-1].phase in ENDS:
            return
        audit = AuditWriter.of(server, actor, records[0])
        await audit.gather()
        await audit.end(_what_became_of(job, records[0], rest, then), AuditPhase.FAILED)


async def gather_orphan(server: Server, actor: Actor, action: EntryId) -> None:
    """Put into the log what a killed action has kept beside its stream; raises ``StreamopsError``."""
    records = await read_action(server, action)
    # What comes after an action's last words is not looked for in the log.
    if records[-1].phase not in ENDS:
        await AuditWriter.of(server, actor, records[0]).gather()


def _what_became_of(job: Job, begun: AuditRecord, rest: int, then: str) -> Outcome:
    """What can still be said: no more than this was done, and what is left was not."""
    requested = begun.plan.count if begun.plan else job.requested
    dealt = max(0, requested - rest)
    failed = min(job.failed, dealt)
    skipped = min(job.skipped, dealt - failed)
    known = begun.at is not None and job.updated_at is not None and job.updated_at > begun.at
    return Outcome(
        operation=job.operation,
        target=job.target,
        requested=requested,
        applied=dealt - failed - skipped,
        skipped_count=skipped,
        failed_count=failed,
        job=job.id,
        audit_id=begun.id,
        elapsed=job.updated_at - begun.at if known and job.updated_at and begun.at else timedelta(0),
        complete=False,
        stopped=f"interrupted; {then}",
    )


def gone_on_with(rest: int, by: str) -> str:
    """What became of a job that another process took over.

    Args:
        rest: Units that were left to do.
        by: The action that goes on with it; empty if it does without a record.
    """
    if not rest:
        return "nothing was left to do"
    return f"continued by {by}" if by else "continued without a record"


def left_to_do(job: Job) -> int:
    """Units of a job that are left to do, by what it could tell."""
    return max(0, job.requested - job.applied - job.skipped - job.failed)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
