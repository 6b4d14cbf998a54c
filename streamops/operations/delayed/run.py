"""``delayed run-now`` moves delayed messages to where they go, due or not; ``delayed rm`` removes them once they are in a file."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from streamops.model.acting import Failed, Plan, Skipped
from streamops.model.delayed import DelayedMessage
from streamops.model.entries import EntryId
from streamops.model.wording import counted
from streamops.monitor.context import ServerContext
from streamops.operations.backups import BackupWriter, forbid_existing, message_line
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from streamops.operations.delayed.plan import DelayedEvidence, plan_cancel_delayed, plan_run_delayed
from streamops.operations.delayed.survey import keys_of, problem_of, resolve_delayed, survey_delayed
from streamops.operations.operation import Operation
from streamops.operations.running import Run
from streamops.wire.delayed import read_messages
from streamops.wire.delayed_writes import GONE, cancel, move_now
from streamops.wire.faults import NO_MEMORY, Fault, FaultKind
from streamops.wire.script_calls import MOST_PARTS

BATCH = 250
BATCH_BYTES = 256 << 10
"""One script call moves no more than so many messages, and so many bytes unless a single one has more."""


def resolve_run(intent: RunDelayedIntent, evidence: DelayedEvidence) -> RunDelayedIntent:
    """The intent with the keys of the queue and of every stream that the messages go to."""
    return replace(
        intent, queue=evidence.queue, destinations=tuple(name for name, _ in evidence.destinations)
    )


async def apply_run_delayed(run: Run, intent: RunDelayedIntent, evidence: DelayedEvidence, _: Plan) -> None:
    """Move them batch by batch, those of one destination together."""
    broken, queue = dict(evidence.broken), evidence.queue
    async for ids in run.batches([one for one in evidence.ids if one not in broken], BATCH):
        async for messages in read_messages(run.server, queue, ids):
            await _move(run, intent.stream, queue, messages)


async def _move(run: Run, stream: str, queue: str, messages: Sequence[DelayedMessage]) -> None:
    movable: dict[str, list[DelayedMessage]] = {}
    skipped, failed = [], []
    for message in messages:
        body = message.body
        if not message.exists:
            skipped.append(Skipped(message.id, GONE))
        elif body is None or (problem := problem_of(message, stream)):
            failed.append(Failed(message.id, message.problem if body is None else problem))
        elif 2 * len(body.entry_fields) > MOST_PARTS:
            failed.append(Failed(message.id, f"it has more than {MOST_PARTS // 2:,} fields"))
        else:
            movable.setdefault(body.destination, []).append(message)
    if skipped or failed:
        await run.report(0, skipped=skipped, failed=failed)
    for destination, group in movable.items():
        for batch in _batches(group):
            await _move_batch(run, queue, destination, batch)


async def _move_batch(run: Run, queue: str, destination: str, batch: Sequence[DelayedMessage]) -> None:
    results = await move_now(run.server, queue, destination, batch)
    pairs = list(zip(batch, results, strict=False))
    skipped = [Skipped(message.id, one.skipped) for message, one in pairs if one.skipped]
    failed = [Failed(message.id, one.error) for message, one in pairs if one.error]
    await run.report(len(pairs) - len(skipped) - len(failed), skipped=skipped, failed=failed)
    if len(results) < len(batch):
        raise Fault(FaultKind.MEMORY, NO_MEMORY).error(destination)


def _batches(messages: Sequence[DelayedMessage]) -> Iterator[list[DelayedMessage]]:
    batch: list[DelayedMessage] = []
    weight = 0
    for message in messages:
        size = message.body.size if message.body else 0
        if batch and weight + size > BATCH_BYTES:
            yield batch
            batch, weight = [], 0
        batch.append(message)
        weight += size
    if batch:
        yield batch


RUN_DELAYED = Operation(
    intent=RunDelayedIntent,
    survey=survey_delayed,
    plan=plan_run_delayed,
    apply=apply_run_delayed,
    writes=lambda intent: (
        *(("XADD", destination) for destination in intent.destinations),
        *zip(("ZREM", "HDEL"), keys_of(intent), strict=True),
    ),
    # The stream may not exist yet: what a message becomes is rechecked by its body.
    key="",
    resolve_defaults=resolve_run,
)

CANCELLED_AT_ONCE = 500


async def survey_cancel(place: ServerContext, intent: CancelDelayedIntent) -> DelayedEvidence:
    """Read which of the messages are there; raises ``SettingsError`` if the file is."""
    forbid_existing(intent.backup)
    return await survey_delayed(place, intent)


async def apply_cancel_delayed(
    run: Run, intent: CancelDelayedIntent, evidence: DelayedEvidence, _: Plan
) -> None:
    """Remove them batch by batch, each batch written to the file first."""
    with BackupWriter(intent.backup) as backup:
        async for ids in run.batches(evidence.ids, CANCELLED_AT_ONCE):
            async for page in read_messages(run.server, evidence.queue, ids):
                await _cancel(run, intent.stream, evidence.queue, page, backup)
        if intent.backup:
            run.note(f"{counted(backup.written, 'message was', 'messages were')} written to {intent.backup}")


async def _cancel(
    run: Run, stream: str, queue: str, page: Sequence[DelayedMessage], backup: BackupWriter
) -> None:
    there = [message for message in page if message.exists]
    skipped = [Skipped(message.id, GONE) for message in page if not message.exists]
    kept = list(enumerate((message for message in there if message.digest), backup.written + 1))
    backup.write_lines(message_line(stream, message, number) for number, message in kept)
    backup.kept = True
    numbers = {message.id: number for number, message in kept}
    reasons = await cancel(run.server, queue, there) if there else []
    left = [(message.id, reason) for message, reason in zip(there, reasons, strict=True) if reason]
    backup.take_back(EntryId(0, numbers[one]) for one, _ in left if one in numbers)
    skipped += [Skipped(one, reason) for one, reason in left]
    await run.report(len(page) - len(skipped), skipped=skipped)


CANCEL_DELAYED = Operation(
    intent=CancelDelayedIntent,
    survey=survey_cancel,
    plan=plan_cancel_delayed,
    apply=apply_cancel_delayed,
    writes=lambda intent: tuple(zip(("ZREM", "HDEL"), keys_of(intent), strict=True)),
    key="",
    resolve_defaults=resolve_delayed,
)
OPERATIONS = (RUN_DELAYED, CANCEL_DELAYED)
