"""``streams.reclaim``: stale pending entries of any library's group are delivered again, or dead-lettered."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import groupby
from typing import Final

from msgspec.structs import replace

from streamops.errors import Forbidden, Refused, SettingsError
from streamops.model.acting import Failed, Plan
from streamops.model.deliveries import DeadLetterDraft, Settled
from streamops.model.entries import GIVEN_BACK, LAST_ID, EntryId
from streamops.model.envelopes import read_envelope
from streamops.model.pending import Stale, StaleRow
from streamops.model.wording import counted
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import group_of, read_stream
from streamops.operations.operation import Operation, Writes
from streamops.operations.pending_rows import note_gone, read_members, unhandled_of
from streamops.operations.planning import ONE_A_MILLISECOND
from streamops.operations.running import Run, StopAsked
from streamops.operations.streams_reclaim.intent import ReclaimIntent, Redelivery
from streamops.operations.streams_reclaim.plan import ReclaimEvidence, plan_reclaim, redelivery
from streamops.wire.consuming.settling import dead_letter_all
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.faults import FaultKind, fault
from streamops.wire.keys import attempts_key, dead_letter_key, replayed_key, require_one_slot
from streamops.wire.pending import Claimable
from streamops.wire.reads import read_page
from streamops.wire.server import Server
from streamops.wire.writes.pending import claim_ids
from streamops.wire.writes.reclaim import BATCH, NOBODY, Reclaimable, add_anew, look_at_stale

JOB_FROM: Final = 1_000
SAMPLE: Final = 10

PERIOD: Final = timedelta(hours=1)
"""The longest action in the audit log; work beyond it is another action."""

REASONS: Final = {"bury": "max-deliveries", "gone": "payload-missing"}


async def survey_reclaim(place: ServerContext, intent: ReclaimIntent) -> ReclaimEvidence:
    """Count what there is to do now, and look at who else is on the stream."""
    _check(intent)
    server = place.server
    queue = intent.dlq or dead_letter_key(intent.stream, place.dead_letters)
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    require_one_slot(server.options.mode, intent.stream, queue)
    await _check_queue(server, intent.stream, queue)
    consumers = await read_members(server, intent.stream, intent.group, intent.to)
    stale = await _count(server, _reclaimable(intent))
    return ReclaimEvidence(
        identity=identity,
        stale=stale,
        consumers=consumers,
        others=tuple(group.name for group in reading.groups if group.name != intent.group),
        queue=queue,
        library=await _library(server, intent.stream, stale),
    )


async def apply_reclaim(run: Run, intent: ReclaimIntent, evidence: ReclaimEvidence, _: Plan) -> None:
    """Reclaim once; or repeatedly, for an hour or until it is asked to stop."""
    reclaiming = _Reclaiming(run, intent, evidence)
    try:
        if intent.every is None:
            await reclaiming.sweep(evidence.stale.last_id)
        else:
            await _keep_on(run, intent.every, reclaiming)
    finally:
        reclaiming.sum_up()


async def _keep_on(run: Run, every: timedelta, reclaiming: "_Reclaiming") -> None:
    try:
        while run.elapsed < PERIOD:
            began = time.monotonic()
            await reclaiming.sweep()
            left = every - timedelta(seconds=time.monotonic() - began)
            await run.wait(max(left, timedelta(milliseconds=1)))
    except StopAsked:
        # That is how it ends.
        return


class _Reclaiming:
    """One group's stale entries being reclaimed, sweep after sweep."""

    def __init__(self, run: Run, intent: ReclaimIntent, evidence: ReclaimEvidence) -> None:
        self._run = run
        self._what = _reclaimable(intent)
        self._evidence = evidence
        self._unhandled = unhandled_of(intent.stream, intent.group, evidence.consumers)
        self._became: Counter[str] = Counter()

    async def sweep(self, until: EntryId | None = None) -> None:
        """Deal with what is stale, page by page, up to an ID.

        Raises:
            StreamopsError: It could not go on.
            StopAsked: It was asked to stop.
        """
        after, began = None, self._run.counts.done
        while most := await self._run.batch_size(min(BATCH, self._run.most - self._run.counts.done + began)):
            page = await look_at_stale(
                self._run.server, self._what, after=after, until=until or LAST_ID, most=most
            )
            await self._give_up([row for row in page.rows if row.fate != "redeliver"])
            again = [row for row in page.rows if row.fate == "redeliver"]
            await (self._claim(again) if self._what.to else self._add(again))
            after = page.last_id
            if page.ended:
                break

    def sum_up(self) -> None:
        """Say what was done, by what became of the entries."""
        queue, to = self._evidence.queue, self._what.to
        for fate, what in (
            ("redeliver", f"claimed for {to}" if to else "delivered again"),
            ("bury", f"delivered too often: dead-lettered to {queue}"),
            ("gone", f"deleted while pending: recorded in {queue}"),
        ):
            if number := self._became[fate]:
                self._run.note(f"{counted(number, 'entry', 'entries')} {what}.")

    async def _give_up(self, rows: Sequence[StaleRow]) -> None:
        """Make dead letters of entries, in the name of their owners."""
        what = self._what
        for owner, mine in groupby(sorted(rows, key=_owner), key=_owner):
            held = list(mine)
            sub = Subscription(what.stream, what.group, owner, dead_letters=self._evidence.queue)
            became = await dead_letter_all(
                self._run.server, sub, retries=False, rows=[*map(_draft, held)], min_idle=what.min_idle
            )
            gone = [row.entry.id for row, came in zip(held, became, strict=True) if came is Settled.GONE]
            await note_gone(self._run, self._unhandled, gone)
            await self._report(bury=became.count(Settled.DONE), gone=len(gone))

    async def _claim(self, rows: Sequence[StaleRow]) -> None:
        """Claim entries for the receiver. Those without an owner look idle, and are claimed immediately."""
        if not rows:
            return
        what, ids = self._what, [row.entry.id for row in rows]
        claimed = await claim_ids(
            self._run.server,
            Claimable(what.stream, what.group, what.to, None, what.min_idle),
            ids,
            position=None,
            idle=GIVEN_BACK if what.to == NOBODY else None,
        )
        await note_gone(self._run, self._unhandled, claimed.missing)
        await self._report(redeliver=claimed.count)

    async def _add(self, rows: Sequence[StaleRow]) -> None:
        while rows:
            came = await add_anew(self._run.server, self._what, rows, self._evidence.others)
            failed = [Failed(str(row.entry.id), why) for row, why in zip(rows, came, strict=False) if why]
            await self._report(failed, redeliver=came.count(""))
            rows = rows[len(came) :]

    async def _report(self, failed: Sequence[Failed] = (), **became: int) -> None:
        self._became.update(became)
        if (applied := sum(became.values())) or failed:
            await self._run.report(applied, failed=failed)


def _owner(row: StaleRow) -> str:
    return row.entry.consumer


def _draft(row: StaleRow) -> DeadLetterDraft:
    ident, deliveries = str(row.entry.id), row.entry.delivery_count
    return DeadLetterDraft(
        ident.encode(),
        REASONS[row.fate],
        "its entry was deleted while it was pending"
        if row.fate == "gone"
        else f"delivered {deliveries} times and never acknowledged",
        deliveries,
        deliveries,
        origin_id="" if row.origin == ident else row.origin,
    )


async def _count(server: Server, what: Reclaimable) -> Stale:
    """Count what there is to do, page by page."""
    fates, owners = Counter[str](), Counter[str]()
    sample: list[StaleRow] = []
    last, waiting = None, 0
    while True:
        page = await look_at_stale(server, what, after=last)
        fates.update(row.fate for row in page.rows)
        owners.update(row.entry.consumer for row in page.rows)
        sample += page.rows[: SAMPLE - len(sample)]
        last, waiting = page.last_id or last, waiting + page.waiting
        if page.ended:
            return Stale(
                **fates, waiting=waiting, owners=(*owners.most_common(),), sample=(*sample,), last_id=last
            )


def resolve_reclaim(intent: ReclaimIntent, evidence: ReclaimEvidence) -> ReclaimIntent:
    """With the queue and the way of redelivering that the evidence decided."""
    return replace(intent, dlq=evidence.queue, redeliver=redelivery(intent, evidence))


def _reclaimable(intent: ReclaimIntent) -> Reclaimable:
    to = (intent.to or NOBODY) if intent.redeliver is Redelivery.CLAIM else ""
    return Reclaimable(intent.stream, intent.group, intent.min_idle, intent.max_deliveries, to)


def _check(intent: ReclaimIntent) -> None:
    if intent.max_deliveries < 1:
        raise SettingsError("reclaim: --max-deliveries is at least 1", "Write --max-deliveries 5.")
    if intent.min_idle <= timedelta(0):
        raise SettingsError(
            "reclaim: --min-idle is more than 0",
            "Write a span that no handler takes longer than: --min-idle 60s.",
        )
    if intent.every is not None and intent.every < timedelta(milliseconds=100):
        raise SettingsError("reclaim: --every is at least 100 ms", "Write --every 30s.")
    if intent.to is not None and intent.redeliver is not Redelivery.CLAIM:
        raise SettingsError("reclaim: --to goes with --redeliver claim", "Leave one out, or give both.")
    if intent.dlq == intent.stream:
        raise SettingsError(
            "reclaim: a stream cannot be its own dead-letter queue", "Name another key with --dlq."
        )


async def _check_queue(server: Server, stream: str, queue: str) -> None:
    """Raises ``Forbidden`` if the queue's key holds something else than a stream."""
    reply = await server.single(queue, "XLEN", queue)
    if isinstance(reply, Exception) and fault(reply).kind is FaultKind.WRONG_TYPE:
        raise Forbidden(
            f"reclaim {stream}: {queue} is not a stream", "Name another dead-letter queue with --dlq."
        )


async def _library(server: Server, stream: str, stale: Stale) -> str:
    """Whose envelope the first entry has that something would be done with."""
    for row in stale.sample:
        if row.fate != "gone":
            with suppress(Refused):
                if page := await read_page(server, stream, row.entry.id, row.entry.id, 1):
                    envelope = read_envelope(page[0].fields)
                    return envelope.library if envelope else ""
    return ""


def _writes(intent: ReclaimIntent) -> Writes:
    stream, notes = intent.stream, replayed_key(intent.stream)
    way = (
        (("XCLAIM", stream),)
        if intent.redeliver is Redelivery.CLAIM
        else (("XADD", stream), ("ZADD", notes), ("ZRANGE", notes), ("ZREM", notes), ("EXPIRE", notes))
    )
    giving_up = ("XADD", intent.dlq or stream), ("HDEL", attempts_key(stream, intent.group))
    return *way, *giving_up, ("XACK", stream), ("XPENDING", stream)


RECLAIM = Operation(
    intent=ReclaimIntent,
    survey=survey_reclaim,
    plan=plan_reclaim,
    apply=apply_reclaim,
    writes=_writes,
    job_from=JOB_FROM,
    # What was dealt with is stale no more: the rest is what there is now.
    resume=lambda intent, _: intent,
    resolve_defaults=resolve_reclaim,
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (RECLAIM,)
