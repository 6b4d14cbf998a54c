"""``publish``: add an entry, or a delayed message.

A cap is no part of the command that adds the entry: the entries are removed by the scripts of ``trim``, which look
again at what the groups need.
"""

from datetime import timedelta
from secrets import token_hex

from msgspec.structs import replace

from streamops.errors import StalePlan
from streamops.model.acting import Plan
from streamops.model.delayed import DelayedBody
from streamops.model.entries import ZERO_ID
from streamops.model.wording import counted, instant
from streamops.monitor.context import ServerContext
from streamops.monitor.delayed import DelayedReader
from streamops.monitor.inspection import find_stream
from streamops.operations.losses import TrimEvidence
from streamops.operations.operation import Operation, Writes
from streamops.operations.publish.intent import PublishIntent
from streamops.operations.publish.plan import PublishEvidence, losers, plan_publish
from streamops.operations.running import Run
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.trim.run import TrimPace
from streamops.operations.trim.survey import survey_trim
from streamops.wire.delayed_writes import schedule
from streamops.wire.keys import bodies_key, delayed_key
from streamops.wire.server import Server
from streamops.wire.writes.entries import TrimFloor, TrimmedSlice, TrimMode, add_entry, trim_safely, trim_to


async def survey_publish(place: ServerContext, intent: PublishIntent) -> PublishEvidence:
    """Read what the stream is like, if there is one."""
    taken, delayed = False, DelayedReader(place)
    if intent.delay is not None:
        ids = [intent.id] if intent.id is not None else []
        taken = any(one.exists for one in await delayed.messages(intent.stream, ids))
    look = await find_stream(place.server, intent.stream)
    evidence = PublishEvidence(exists=look is not None, taken=taken, queue=delayed.queue_of(intent.stream))
    if look is None:
        return evidence
    reading = look.reading
    return replace(
        evidence,
        length=reading.length,
        last_generated_id=reading.last_generated_id,
        groups=tuple(group.name for group in reading.groups),
        cap=await _survey_cap(place, intent, reading.length),
    )


async def _survey_cap(place: ServerContext, intent: PublishIntent, length: int) -> TrimEvidence | None:
    if intent.maxlen is None or intent.delay is not None or length < intent.maxlen:
        return None
    # The entry to be added is one of those that stay.
    return await survey_trim(place, TrimIntent(stream=intent.stream, maxlen=intent.maxlen - 1, safe=False))


async def apply_publish(run: Run, intent: PublishIntent, evidence: PublishEvidence, _: Plan) -> None:
    """Add it, say under which ID, and trim to the cap."""
    if intent.delay is not None:
        await _schedule(run, intent, intent.delay)
        return
    added = await add_entry(run.server, intent.stream, intent.pairs, entry_id=intent.id)
    run.note(f"entry {added} was added to {intent.stream}")
    await run.report(1)
    if intent.maxlen is not None and evidence.cap is not None:
        removed = await _trim(run.server, intent.stream, intent.maxlen, evidence.cap)
        run.note(_trimmed(removed, intent.maxlen))


async def _schedule(run: Run, intent: PublishIntent, delay: timedelta) -> None:
    ident = intent.id or token_hex(8)
    body = DelayedBody(intent.stream, intent.pairs)
    due_at = await schedule(run.server, intent.stream, ident, body, delay, queue=intent.queue)
    if due_at is None:
        raise StalePlan(
            f"stream {intent.stream} has a delayed message {ident} by now",
            "Nothing was done. Choose another ID.",
        )
    run.note(f"message {ident} of {intent.stream} is due at {instant(due_at)}")
    await run.report(1)


async def _trim(server: Server, stream: str, kept: int, cap: TrimEvidence) -> int:
    """Trim as far as the plan said, slice by slice; how many entries went."""
    pace, removed = TrimPace(cap.entry_bytes, len(cap.identity.positions)), 0
    while left := cap.removable.upper - removed:
        most = min(left, max(pace.size, pace.least))
        done = await _slice(server, stream, kept, cap, most)
        removed += done.removed
        if not pace.goes_on(done, most, left):
            break
    return removed


def _trimmed(removed: int, kept: int) -> str:
    if not removed:
        return (
            f"nothing was removed for --maxlen {kept}: an approximate trim removes whole nodes only, "
            "and what a group needs stays"
        )
    return f"{counted(removed, 'entry', 'entries')} at its beginning were removed for --maxlen {kept}"


async def _slice(server: Server, stream: str, kept: int, cap: TrimEvidence, most: int) -> TrimmedSlice:
    how, positions = TrimMode(most, exact=False), cap.identity.positions
    what = f"stream {stream}: the entry was added, but not trimmed to its cap"
    if positions and not losers(cap):
        # The plan named no loss: entries that a group needs by now stay.
        return await trim_safely(server, stream, kept, how, what)
    return await trim_to(server, stream, TrimFloor(cap.asked or ZERO_ID, kept, positions), how, what)


def _writes(intent: PublishIntent) -> Writes:
    if intent.delay is None:
        trims = () if intent.maxlen is None else (("XTRIM", intent.stream),)
        return (("XADD", intent.stream), *trims)
    queue = intent.queue or delayed_key(intent.stream)
    return ("HSET", bodies_key(queue)), ("ZADD", queue)


PUBLISH = Operation(
    intent=PublishIntent,
    survey=survey_publish,
    plan=plan_publish,
    apply=apply_publish,
    writes=_writes,
    # The stream may not exist yet.
    key="",
    resolve_defaults=lambda intent, evidence: replace(intent, queue=evidence.queue),
)
OPERATIONS = (PUBLISH,)
