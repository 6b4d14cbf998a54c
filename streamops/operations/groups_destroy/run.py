"""``groups.destroy``: destroy a consumer group, after writing what it holds to a file."""

from collections.abc import Awaitable, Sequence
from datetime import timedelta
from typing import Final

from streamops.errors import Refused, StalePlan, StreamopsError, Unreachable
from streamops.model.acting import Plan
from streamops.model.entries import PendingEntry
from streamops.model.streams import Consumer
from streamops.model.wording import counted
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import count_unread, group_of, inspect_stream
from streamops.operations.backups import BackupWriter, forbid_existing, json_line, name_json
from streamops.operations.groups_destroy.intent import DestroyGroupIntent
from streamops.operations.groups_destroy.plan import (
    DESTROYED_AT_ONCE,
    DestroyGroupEvidence,
    plan_destroy_group,
)
from streamops.operations.operation import Operation
from streamops.operations.pending_rows import read_members
from streamops.operations.planning import ONE_A_MILLISECOND
from streamops.operations.running import Run
from streamops.wire.pending import PendingRange, pending_pages, read_pending_summary
from streamops.wire.writes.groups import destroy_group, empty_group

ACTIVE: Final = timedelta(seconds=60)
"""Consumers seen so lately are told of: they will get an error."""

BATCH: Final = 1_000


async def survey_destroy_group(place: ServerContext, intent: DestroyGroupIntent) -> DestroyGroupEvidence:
    """Read where the group stands, what is pending, and who uses it."""
    server = place.server
    look = await inspect_stream(server, intent.stream)
    group = group_of(look.reading, intent.group)
    forbid_existing(intent.backup)
    pending, _, _, owners = await read_pending_summary(server, intent.stream, intent.group)
    consumers = await read_members(server, intent.stream, intent.group)
    return DestroyGroupEvidence(
        identity=look.identity,
        now=look.now,
        position=group.last_delivered_id,
        entries_read=group.entries_read,
        lag=await count_unread(server, look, group),
        pending=pending,
        owners=tuple(sorted(owners, key=lambda owner: (-owner[1], owner[0]))),
        consumers=group.consumers,
        active=tuple(consumer.name for consumer in consumers if _is_active(consumer)),
        backup=intent.backup or "",
        other_groups=look.others(intent.group),
    )


async def apply_destroy_group(
    run: Run, intent: DestroyGroupIntent, evidence: DestroyGroupEvidence, plan: Plan
) -> None:
    """Write down what it holds, take long lists off it in batches, and destroy it."""
    with BackupWriter(evidence.backup) as file:
        file.write_lines([_group_line(intent, evidence)])
        if evidence.backup:
            run.note(f"Its position and its pending rows are in {evidence.backup}.")
        work = _Destroying(run, intent, evidence, file)
        async for rows in pending_pages(run.server, PendingRange(intent.stream, intent.group, None, BATCH)):
            await work.take(rows)
        await work.end()
    await run.report(plan.count - run.counts.done)


class _Destroying:
    """One group on its way out.

    Attributes:
        left: Rows that it has at most.
    """

    def __init__(
        self,
        run: Run,
        intent: DestroyGroupIntent,
        evidence: DestroyGroupEvidence,
        file: BackupWriter,
    ) -> None:
        self._run = run
        self._intent = intent
        self._evidence = evidence
        self._file = file
        self.left = evidence.pending

    async def take(self, rows: Sequence[PendingEntry]) -> None:
        """Write rows down, and take them off the list where that is long."""
        intent = self._intent
        self._file.write_lines(_row_line(intent, row) for row in rows)
        if self._evidence.pending > DESTROYED_AT_ONCE:
            ids = [row.id for row in rows]
            taken = await self._written(
                empty_group(
                    self._run.server,
                    intent.stream,
                    intent.group,
                    ids,
                    position=self._evidence.position,
                    most=self.left,
                )
            )
            self.left -= taken
            await self._run.report(taken)

    async def end(self) -> None:
        """Destroy it."""
        intent, most = self._intent, min(self.left, DESTROYED_AT_ONCE)
        position = self._evidence.position
        await self._written(
            destroy_group(self._run.server, intent.stream, intent.group, position=position, most=most)
        )

    async def _written(self, write: Awaitable[int]) -> int:
        """What a write came to; the file stays unless the server said that nothing was lost."""
        done, self._file.kept = self._run.counts.done, True
        try:
            return await write
        except StreamopsError as error:
            if isinstance(error, (StalePlan, Refused)):
                self._file.kept = done > 0
            if done and not isinstance(error, Unreachable):
                error.hint = (
                    f"The group is still there; {counted(done, 'pending row', 'pending rows')} "
                    f"{'was' if done == 1 else 'were'} removed: {self._evidence.backup} lists them."
                )
            raise


def _group_line(intent: DestroyGroupIntent, evidence: DestroyGroupEvidence) -> bytes:
    return json_line(
        {
            "stream": name_json(intent.stream),
            "group": name_json(intent.group),
            "last_delivered_id": str(evidence.position),
            "entries_read": evidence.entries_read,
            "at": evidence.now,
        }
    )


def _row_line(intent: DestroyGroupIntent, row: PendingEntry) -> bytes:
    return json_line(
        {
            "stream": name_json(intent.stream),
            "group": name_json(intent.group),
            "id": str(row.id),
            "consumer": name_json(row.consumer),
            "idle_seconds": row.idle.total_seconds(),
            "deliveries": row.delivery_count,
        }
    )


def _is_active(consumer: Consumer) -> bool:
    seen = consumer.idle if consumer.inactive is None else min(consumer.idle, consumer.inactive)
    return seen < ACTIVE


DESTROY_GROUP = Operation(
    intent=DestroyGroupIntent,
    survey=survey_destroy_group,
    plan=plan_destroy_group,
    apply=apply_destroy_group,
    writes=("XGROUP DESTROY", "XACK"),
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (DESTROY_GROUP,)
