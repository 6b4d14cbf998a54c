"""``tend``: what a group of any library left lying is handled again, or becomes a dead letter."""

import time
from datetime import timedelta

from msgspec.structs import replace

from streamops.analysis.envelopes import read_envelope
from streamops.errors import Forbidden, SettingsError
from streamops.model.acting import Plan
from streamops.model.acts.tend import Redelivery, Stuck, TendEvidence, TendIntent
from streamops.operate.acting.operation import Operation
from streamops.operate.acting.place import Place
from streamops.operate.acting.reading import group_of, read_stream
from streamops.operate.acting.run import Run, StopAsked
from streamops.operate.operations.members import read_members
from streamops.operate.operations.tending import Tending
from streamops.operate.operations.unhandled import unhandled_of
from streamops.plans.crowds import ONE_A_MILLISECOND
from streamops.plans.tend import plan_tend, redelivery
from streamops.wire.consuming.tending import NOBODY, Tendable, look_at_stuck
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.keys import dead_letter_key, replayed_key, require_one_slot
from streamops.wire.reads import read_page
from streamops.wire.server import Server

PERIOD = timedelta(hours=1)
"""So long is one action of the audit log; whoever goes on begins another."""


async def survey_tend(place: Place, intent: TendIntent) -> TendEvidence:
    """Count what there is to do now, and look at who else is on the stream."""
    _check(intent)
    server = place.server
    queue = intent.dlq or dead_letter_key(intent.stream, place.dead_letters)
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    require_one_slot(server.options.mode, intent.stream, queue)
    await _check_queue(server, intent.stream, queue)
    others = tuple(group.name for group in reading.groups if group.name != intent.group)
    evidence = TendEvidence(
        identity=identity,
        stuck=Stuck(),
        consumers=await read_members(server, intent.stream, intent.group, intent.to),
        others=others,
        queue=queue,
    )
    stuck = await look_at_stuck(server, tendable(intent, evidence))
    if isinstance(stuck, Fault):
        raise stuck.error(f"group {intent.stream}/{intent.group}")
    return replace(evidence, stuck=stuck, library=await _library(server, intent.stream, stuck))


async def apply_tend(run: Run, intent: TendIntent, evidence: TendEvidence, _: Plan) -> None:
    """Look once; or look again and again, for an hour or until somebody wants it to stop."""
    tending = Tending(run, tendable(intent, evidence))
    try:
        if intent.once:
            await tending.sweep(evidence.stuck.last_id)
        else:
            await _keep_on(run, intent, tending)
    finally:
        tending.sum_up()


async def _keep_on(run: Run, intent: TendIntent, tending: Tending) -> None:
    try:
        while run.elapsed < PERIOD:
            began = time.monotonic()
            await tending.sweep()
            left = intent.every - timedelta(seconds=time.monotonic() - began)
            await run.wait(max(left, timedelta(milliseconds=1)))
    except StopAsked:
        # That is how it ends.
        return


def settle_tend(intent: TendIntent, evidence: TendEvidence) -> TendIntent:
    """With the queue and the way of redelivering that the evidence decided."""
    return replace(intent, dlq=evidence.queue, redeliver=redelivery(intent, evidence))


def tendable(intent: TendIntent, evidence: TendEvidence) -> Tendable:
    """Which entries an intent asks for, and how they are dealt with."""
    claiming = intent.redeliver is Redelivery.CLAIM
    return Tendable(
        intent.stream,
        intent.group,
        evidence.queue,
        intent.min_idle,
        intent.max_deliveries,
        (intent.to or NOBODY) if claiming else "",
        () if claiming else evidence.others,
        unhandled_of(intent.stream, intent.group, evidence.consumers),
    )


def _check(intent: TendIntent) -> None:
    if intent.max_deliveries < 1:
        raise SettingsError("tend: --max-deliveries is at least 1", "Write --max-deliveries 5.")
    if intent.min_idle <= timedelta(0):
        raise SettingsError(
            "tend: --min-idle is more than 0",
            "Write a span that no handler takes longer than: --min-idle 60s.",
        )
    if intent.every < timedelta(milliseconds=100):
        raise SettingsError("tend: --every is at least 100 ms", "Write --every 30s.")
    if intent.to is not None and intent.redeliver is not Redelivery.CLAIM:
        raise SettingsError("tend: --to goes with --redeliver claim", "Leave one out, or give both.")
    if intent.dlq == intent.stream:
        raise SettingsError(
            "tend: the stream is no dead-letter queue of its own", "Name another key with --dlq."
        )


async def _check_queue(server: Server, stream: str, queue: str) -> None:
    """Raises ``Forbidden`` where the queue's key holds something else than a stream."""
    reply = await server.single(queue, "XLEN", queue)
    if isinstance(reply, Exception) and fault(reply).kind is FaultKind.WRONG_TYPE:
        raise Forbidden(
            f"tend {stream}: {queue} is not a stream", "Name another dead-letter queue with --dlq."
        )


async def _library(server: Server, stream: str, stuck: Stuck) -> str:
    """Whose envelope the first entry has that something would be done with."""
    for row in stuck.sample:
        if row.fate != "gone":
            page = await read_page(server, stream, row.entry.id, row.entry.id, 1, newest_first=False)
            if not isinstance(page, Fault) and page:
                envelope = read_envelope(page[0].fields)
                return envelope.library if envelope else ""
    return ""


def _writes(intent: TendIntent) -> tuple[tuple[str, str], ...]:
    way = ("XCLAIM", intent.stream) if intent.redeliver is Redelivery.CLAIM else ("XADD", intent.stream)
    notes = replayed_key(intent.stream)
    noting = (
        (("ZADD", notes), ("ZRANGE", notes), ("ZREM", notes), ("EXPIRE", notes)) if way[0] == "XADD" else ()
    )
    return (
        *noting,
        ("XACK", intent.stream),
        ("XPENDING", intent.stream),
        way,
        ("XADD", intent.dlq or intent.stream),
    )


TEND = Operation(
    name="tend",
    summary="Give a group of any library reclaiming and dead letters.",
    intent=TendIntent,
    survey=survey_tend,
    plan=plan_tend,
    apply=apply_tend,
    writes=_writes,
    stream=lambda intent: intent.stream,
    settle=settle_tend,
    groups_a_ms=ONE_A_MILLISECOND,
)
