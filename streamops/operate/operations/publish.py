"""``publish``: add an entry, or a delayed message."""

from secrets import token_hex

from streamops.errors import StalePlan
from streamops.model.acting import Plan
from streamops.model.acts.publish import PublishEvidence, PublishIntent
from streamops.model.delayed import DelayedBody
from streamops.operate.acting.operation import Operation
from streamops.operate.acting.place import Place
from streamops.operate.acting.run import Run
from streamops.operate.delayed import DelayedReader
from streamops.plans.publish import plan_publish
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.keys import delayed_jobs_key, delayed_key
from streamops.wire.stream_reader import StreamReader
from streamops.wire.writes.delayed import schedule
from streamops.wire.writes.publish import add_entry


async def survey_publish(place: Place, intent: PublishIntent) -> PublishEvidence:
    """Read what the stream is like, if there is one."""
    taken = False
    if intent.delay is not None:
        ids = [intent.id] if intent.id is not None else []
        taken = any(one.exists for one in await DelayedReader(place.server).messages(intent.stream, ids))
    reading = (await StreamReader(place.server).read([intent.stream])).streams[0]
    if isinstance(reading, Fault):
        if reading.kind is not FaultKind.MISSING:
            raise reading.error(f"stream {intent.stream}")
        return PublishEvidence(exists=False, length=0, last_generated_id=None, groups=(), taken=taken)
    return PublishEvidence(
        exists=True,
        length=reading.length,
        last_generated_id=reading.last_generated_id,
        groups=tuple(group.name for group in reading.groups),
        taken=taken,
    )


async def apply_publish(run: Run, intent: PublishIntent, _evidence: PublishEvidence, _: Plan) -> None:
    """Add it, and say under which ID."""
    if intent.delay is None:
        added = await add_entry(
            run.server, intent.stream, intent.pairs, entry_id=intent.id, maxlen=intent.maxlen
        )
        if isinstance(added, Fault):
            raise added.error(f"stream {intent.stream}")
        run.note(f"entry {added} was added to {intent.stream}")
    else:
        ident = intent.id or token_hex(8)
        body = DelayedBody(intent.stream, intent.pairs)
        due_at = await schedule(run.server, intent.stream, ident, body, intent.delay)
        if isinstance(due_at, Fault):
            raise due_at.error(delayed_key(intent.stream))
        if due_at is None:
            raise StalePlan(
                f"stream {intent.stream} has a delayed message {ident} by now",
                "Nothing was done. Choose another ID.",
            )
        run.note(f"message {ident} of {intent.stream} is due at {due_at.isoformat(timespec='milliseconds')}")
    await run.report(1)


def _writes(intent: PublishIntent) -> tuple[tuple[str, str], ...]:
    if intent.delay is None:
        return (("XADD", intent.stream),)
    return ("HSET", delayed_jobs_key(intent.stream)), ("ZADD", delayed_key(intent.stream))


PUBLISH = Operation(
    name="publish",
    summary="Add an entry, or a message that becomes one later.",
    intent=PublishIntent,
    survey=survey_publish,
    plan=plan_publish,
    apply=apply_publish,
    writes=_writes,
    # The stream may not exist yet.
    stream=lambda _: None,
    asks=False,
)
