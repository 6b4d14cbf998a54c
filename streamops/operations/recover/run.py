"""``webhooks recover``: add the messages of a log that a lost Redis no longer holds."""

from msgspec.structs import replace

from streamops.model.acting import Failed, Plan, Skipped
from streamops.model.delayed import DelayedBody
from streamops.operations.operation import Operation, Writes
from streamops.operations.recover.intent import RecoverIntent
from streamops.operations.recover.plan import RecoverEvidence, plan_recover
from streamops.operations.recover.survey import survey_recover
from streamops.operations.running import Run
from streamops.wire.delayed_writes import MessageToDelay, schedule_many
from streamops.wire.faults import Fault
from streamops.wire.keys import bodies_key

BATCH = 500


async def apply_recover(run: Run, _intent: RecoverIntent, evidence: RecoverEvidence, _plan: Plan) -> None:
    """Add the messages, those of one queue together; the script leaves out IDs that are taken."""
    left = evidence.missing
    while size := await run.batch_size(BATCH):
        stream, queue = left[0].stream, left[0].queue
        # They are sorted by stream, and one call adds messages of one.
        batch = [one for one in left[:size] if one.stream == stream]
        left = left[len(batch) :]
        messages = [MessageToDelay(one.id, DelayedBody(stream, one.fields), one.due) for one in batch]
        answers = await schedule_many(run.server, stream, messages, queue)
        skipped, failed = [], []
        for one, answer in zip(batch, answers, strict=True):
            if answer is None:
                skipped.append(Skipped(one.id, f"its ID is taken in {queue}"))
            elif isinstance(answer, Fault):
                if answer.denies_command:
                    # All of them would be refused.
                    raise answer.error(queue)
                failed.append(Failed(one.id, answer.error(queue).message))
        await run.report(len(batch) - len(skipped) - len(failed), skipped=skipped, failed=failed)


def _writes(intent: RecoverIntent) -> Writes:
    return tuple(pair for queue in intent.queues for pair in (("HSET", bodies_key(queue)), ("ZADD", queue)))


def _resolve(intent: RecoverIntent, evidence: RecoverEvidence) -> RecoverIntent:
    return replace(intent, queues=tuple(sorted({one.queue for one in evidence.missing})))


RECOVER = Operation(
    intent=RecoverIntent,
    survey=survey_recover,
    plan=plan_recover,
    apply=apply_recover,
    writes=_writes,
    # It writes to the streams of several topics.
    key="",
    resolve_defaults=_resolve,
)
OPERATIONS = (RECOVER,)
