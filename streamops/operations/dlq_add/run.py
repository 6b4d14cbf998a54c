"""``dlq.add``: make dead letters of pending entries by their IDs."""

from collections.abc import Sequence
from itertools import groupby

from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.acting import Plan, Skipped
from streamops.model.deliveries import DeadLetterDraft, Settled
from streamops.model.entries import PendingEntry
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import group_of, read_stream
from streamops.operations.dlq_add.intent import AddDeadLettersIntent
from streamops.operations.dlq_add.plan import AddDeadLettersEvidence, plan_add_dead_letters
from streamops.operations.operation import Operation, Writes
from streamops.operations.planning import ONE_A_MILLISECOND
from streamops.operations.running import Run
from streamops.wire.consuming.settling import dead_letter_all
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.keys import attempts_key, dead_letter_key, require_one_slot
from streamops.wire.pending import read_pending_by_id
from streamops.wire.reads import read_existing

BATCH = 100
WHY_LEFT = {
    Settled.NOT_OURS: "no longer pending as it was a moment before",
    Settled.SUPERSEDED: "another entry has its ID now",
}


async def survey_add_dead_letters(
    place: ServerContext, intent: AddDeadLettersIntent
) -> AddDeadLettersEvidence:
    """Read which of the IDs are pending, and which entries still exist."""
    server = place.server
    queue = intent.dlq or dead_letter_key(intent.stream, place.dead_letters)
    if queue == intent.stream:
        raise SettingsError(
            "dlq add: a stream cannot be its own dead-letter queue", "Name another key with --dlq."
        )
    require_one_slot(server.options.mode, intent.stream, queue)
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    ids = list(dict.fromkeys(intent.ids))
    rows = await read_pending_by_id(server, intent.stream, intent.group, ids)
    existing = await read_existing(server, intent.stream, [row.id for row in rows])
    others = tuple(group.name for group in reading.groups if group.name != intent.group)
    return AddDeadLettersEvidence(identity, tuple(rows), frozenset(existing), others, queue)


async def apply_add_dead_letters(
    run: Run, intent: AddDeadLettersIntent, evidence: AddDeadLettersEvidence, _: Plan
) -> None:
    """Make dead letters of entries that are as the plan saw them, in the name of their owners."""
    async for batch in run.batches(evidence.rows, BATCH):
        found = await read_pending_by_id(run.server, intent.stream, intent.group, [row.id for row in batch])
        now = {row.id: row for row in found}
        left = [Skipped(str(row.id), why) for row in batch if (why := _changed(row, now.get(row.id)))]
        changed = {one.id for one in left}
        held = [now[row.id] for row in batch if str(row.id) not in changed]
        given_up = 0
        for owner, rows in groupby(sorted(held, key=_owner), key=_owner):
            became = await _give_up(run, intent, evidence.queue, owner, [*rows])
            left += [Skipped(ident, WHY_LEFT[word]) for ident, word in became if word in WHY_LEFT]
            given_up += sum(word not in WHY_LEFT for _, word in became)
        await run.report(given_up, skipped=left)


def _changed(planned: PendingEntry, now: PendingEntry | None) -> str:
    if now is None:
        return "no longer pending"
    if now.consumer != planned.consumer:
        return f"now owned by {now.consumer or 'no consumer'}"
    return "delivered again since" if now.delivery_count != planned.delivery_count else ""


async def _give_up(
    run: Run, intent: AddDeadLettersIntent, queue: str, owner: str, rows: Sequence[PendingEntry]
) -> list[tuple[str, Settled]]:
    became = await dead_letter_all(
        run.server,
        Subscription(intent.stream, intent.group, owner, dead_letters=queue),
        retries=False,
        rows=[
            DeadLetterDraft(
                str(row.id).encode(),
                intent.because,
                "dead-lettered by an operator",
                row.delivery_count,
                row.delivery_count,
            )
            for row in rows
        ],
        # An entry delivered in between is being processed: its idle time begins again.
        min_idle=min(row.idle for row in rows),
    )
    return [(str(row.id), word) for row, word in zip(rows, became, strict=True)]


def _owner(row: PendingEntry) -> str:
    return row.consumer


def _resolve(intent: AddDeadLettersIntent, evidence: AddDeadLettersEvidence) -> AddDeadLettersIntent:
    return replace(intent, dlq=evidence.queue)


def _writes(intent: AddDeadLettersIntent) -> Writes:
    stream = intent.stream
    queue, attempts = intent.dlq or stream, attempts_key(stream, intent.group)
    return ("XADD", queue), ("HDEL", attempts), ("XACK", stream), ("XPENDING", stream)


ADD_DEAD_LETTERS = Operation(
    intent=AddDeadLettersIntent,
    survey=survey_add_dead_letters,
    plan=plan_add_dead_letters,
    apply=apply_add_dead_letters,
    writes=_writes,
    resolve_defaults=_resolve,
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (ADD_DEAD_LETTERS,)
