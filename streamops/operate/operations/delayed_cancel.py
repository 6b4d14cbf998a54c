"""``delayed cancel``: remove delayed messages, after they were written to a file."""

from collections.abc import Sequence
from contextlib import ExitStack

from streamops.model.acting import Plan, Skipped
from streamops.model.acts.delayed import CancelDelayedIntent, DelayedEvidence
from streamops.model.delayed import DelayedMessage
from streamops.model.ids import EntryId
from streamops.model.wording import counted
from streamops.monitor.context import Place
from streamops.operate.acting.operation import Operation
from streamops.operate.acting.run import Run
from streamops.operate.backups import BackupWriter, forbid_existing
from streamops.operate.delayed_backups import message_line
from streamops.operate.operations.delayed_evidence import keys_of, settle_delayed, survey_delayed
from streamops.plans.delayed import plan_cancel_delayed
from streamops.wire.delayed import read_messages
from streamops.wire.faults import Fault
from streamops.wire.writes.delayed import GONE, cancel

BATCH = 500


async def survey_cancel(place: Place, intent: CancelDelayedIntent) -> DelayedEvidence:
    """Read which of the messages are there; raises ``SettingsError`` where the file is."""
    if intent.backup is not None:
        forbid_existing(intent.backup)
    return await survey_delayed(place, intent)


async def apply_cancel_delayed(
    run: Run, intent: CancelDelayedIntent, evidence: DelayedEvidence, _: Plan
) -> None:
    """Remove them batch by batch, each batch written to the file first."""
    with ExitStack() as files:
        backup = None if intent.backup is None else files.enter_context(BackupWriter(intent.backup))
        at = 0
        while at < len(evidence.ids) and (size := await run.batch_size(BATCH)):
            async for page in read_messages(run.server, evidence.queue, evidence.ids[at : at + size]):
                await _cancel(run, intent.stream, evidence.queue, page, backup)
            at += size
        if backup is not None:
            run.note(f"{counted(backup.written, 'message was', 'messages were')} written to {intent.backup}")


async def _cancel(
    run: Run, stream: str, queue: str, page: Sequence[DelayedMessage], backup: BackupWriter | None
) -> None:
    there = [message for message in page if message.exists]
    skipped = [Skipped(message.id, GONE) for message in page if not message.exists]
    numbers: dict[str, int] = {}
    if backup is not None:
        kept = list(enumerate((message for message in there if message.digest), backup.written + 1))
        backup.write_lines([message_line(stream, message, number) for number, message in kept])
        backup.kept = True
        numbers = {message.id: number for number, message in kept}
    reasons = await cancel(run.server, queue, there) if there else []
    if isinstance(reasons, Fault):
        raise reasons.error(queue)
    if backup is not None:
        left = [message.id for message, reason in zip(there, reasons, strict=True) if reason]
        backup.take_back(EntryId(0, numbers[one]) for one in left if one in numbers)
    skipped += [Skipped(message.id, reason) for message, reason in zip(there, reasons, strict=True) if reason]
    await run.report(len(page) - len(skipped), skipped=skipped)


CANCEL_DELAYED = Operation(
    name="delayed.cancel",
    summary="Remove delayed messages.",
    intent=CancelDelayedIntent,
    survey=survey_cancel,
    plan=plan_cancel_delayed,
    apply=apply_cancel_delayed,
    writes=lambda intent: tuple(zip(("ZREM", "HDEL"), keys_of(intent), strict=True)),
    stream=lambda _: None,
    settle=settle_delayed,
    rated=True,
)
