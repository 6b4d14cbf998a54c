"""``replay``: hand the entries of dead letters on, inside the server where one script reaches everything, with markers if it does not."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from streamops.model.acting import Failed, Job, Plan, Skipped
from streamops.model.authority import StreamPart, is_part_of
from streamops.model.dead_letters import PAYLOAD, DeadLetter, DeadLetterShape, edited, republished, retried
from streamops.model.entries import EntryId
from streamops.monitor.dead_letters import (
    PAGE_BYTES,
    DeadLetterFilter,
    chosen_dead_letters,
    dead_letter_pages,
)
from streamops.operations.operation import Operation, Writes
from streamops.operations.planning import gone_meanwhile
from streamops.operations.replay.intent import ReplayIntent, ReplayMode, ReplayRoute
from streamops.operations.replay.plan import ReplayEvidence, plan_replay
from streamops.operations.replay.survey import FEW, survey_replay
from streamops.operations.running import Run
from streamops.wire.consuming.payloads import StoredPayload, fetch_payloads, keep_payload
from streamops.wire.keys import encoded_part, moved_key, payload_key, replayed_key
from streamops.wire.writes.replay import (
    BATCH,
    PAYLOADS_KEPT,
    DeadLetterBatch,
    DeadLetterMove,
    ParsedDeadLetter,
    Replayer,
    ReplayReply,
    ScriptRoute,
    TargetGroups,
    check_unused,
    move_dead_letters,
    place_dead_letters,
    renew_payloads,
    take_out,
)

PLACED: Final = 100
"""Dead letters that one script hands on to another slot: each brings its fields and a marker."""

STRAY: Final = "it names a stream or group that is not in the plan"
ALREADY: Final = "an earlier replay had sent it; only its dead letter was left, and is now removed"


def replayer_of(intent: ReplayIntent, evidence: ReplayEvidence) -> Replayer:
    """What every batch of a replay has in common."""
    mode = evidence.mode or ReplayMode.REPUBLISH
    return Replayer(
        queue=intent.queue,
        mode=mode,
        source=evidence.letters.source or "",
        anywhere=intent.to is not None,
        ways=(),
        told=tuple(
            # A new group gets what is added for all, and was not told of; what goes to one concerns no other.
            TargetGroups(target.stream, target.groups, not target.exists, mode is not ReplayMode.REPUBLISH)
            for target in evidence.targets
        ),
        edits=intent.edit,
        sources=(*evidence.sources, *(one.stream for one in evidence.foreign if not one.problem)),
        guarded=not evidence.is_queue,
    )


class Mover:
    """Moves letters of one replay, and tells the run of each batch."""

    def __init__(self, run: Run, replayer: Replayer, routes: Sequence[ReplayRoute]) -> None:
        self._run = run
        self._server = run.server
        self._routes = {(route.stream, route.group): route for route in routes}
        self._replayer = replayer
        atomic = [route for route in routes if route.atomic]
        homes = {route.home for route in atomic}
        self._within = replace(
            replayer,
            ways=tuple(map(_way, atomic)),
            told=tuple(told for told in replayer.told if told.stream in homes),
        )

    async def move(self, letters: DeadLetterBatch) -> ReplayReply:
        """Move letters inside the server; raises ``StreamopsError``."""
        return await move_dead_letters(self._server, self._within, letters)

    async def report(self, moved: ReplayReply, cursor: EntryId) -> None:
        """Tell of a batch."""
        left, failed = _skipped(moved.left), _failed(moved.failed)
        await self._run.report(moved.moved, cursor=str(cursor), skipped=left, failed=failed)

    async def move_read(self, letters: Sequence[DeadLetter]) -> None:
        """Move letters that were read: as many at once as one script should take. Says nothing of the cursor.

        Those that go to one key go in their order.
        """
        for batch in _batches(letters):
            shares: dict[ReplayRoute | None, list[DeadLetter]] = {}
            for letter in await self._see_to_payloads(batch):
                shares.setdefault(_target_of(self._route_of(letter)), []).append(letter)
            for target, share in shares.items():
                if target is None:
                    await self._run.report(0, skipped=[Skipped(str(one.id), STRAY) for one in share])
                elif target.atomic:
                    await self._move_within(share)
                else:
                    await self._move_across(target, share)

    async def _move_within(self, letters: Sequence[DeadLetter]) -> None:
        payloads = frozenset(key for one in letters if (key := one.payload_key))
        taken = {one.id: _taken(one) for one in letters if _is_taken_apart(one) or _is_rewritten(one)}
        ids = tuple(letter.id for letter in letters)
        while ids:
            moved = await self.move(DeadLetterBatch(ids=ids, payloads=payloads, taken=taken))
            await self._run.report(moved.moved, skipped=_skipped(moved.left), failed=_failed(moved.failed))
            ids = ids[moved.seen :]

    async def _move_across(self, route: ReplayRoute, letters: Sequence[DeadLetter]) -> None:
        queue = self._replayer.queue
        if self._replayer.guarded:
            await check_unused(self._server, queue, letters[-1].id)
        markers = [moved_key(route.home, f"{encoded_part(queue)}:{letter.id}") for letter in letters]
        told = await place_dead_letters(
            self._server,
            self._replayer,
            _way(route),
            markers,
            [self._handed_on(route, letter) for letter in letters],
        )
        there = [one.id for one, place in zip(letters, told, strict=True) if place.became in _THERE]
        await take_out(self._server, queue, there)
        await self._run.report(
            sum(place.became == "moved" for place in told),
            skipped=_skipped(_those(letters, told, "left"))
            + [Skipped(one, ALREADY) for one, _ in _those(letters, told, "already")],
            failed=_failed(_those(letters, told, "failed")),
        )

    async def _see_to_payloads(self, letters: Sequence[DeadLetter]) -> list[DeadLetter]:
        """The letters with their payloads there, kept from now on, and beside the stream that they go to."""
        keys = {one.payload_key for one in letters if self._refers(one)}
        kept = await renew_payloads(self._server, sorted(key for key in keys if key))
        seen_to, missing = [], []
        for letter in letters:
            key = letter.payload_key
            there: DeadLetter | None = letter
            if key in kept:
                there = await self._with_own_payload(letter, key) if kept[key] else None
            if there is None:
                missing.append((str(letter.id), f"payload-missing: there is no key {key}"))
            else:
                seen_to.append(there)
        if missing:
            await self._run.report(0, failed=_failed(missing))
        return seen_to

    async def _with_own_payload(self, letter: DeadLetter, key: str) -> DeadLetter | None:
        """The letter as it is handed on: with a copy of its payload where it goes to another stream; none without one.

        Only what lies beside a stream is fetched for its entries.
        """
        route = self._route_of(letter)
        if (
            route is None
            or self._replayer.mode == ReplayMode.REDELIVER
            or is_part_of(key, route.home, StreamPart.PAYLOADS)
        ):
            return letter
        (value,) = await fetch_payloads(self._server, [key])
        if value is None:
            return None
        # Repeating this writes the same key.
        copy = StoredPayload(
            payload_key(route.home, f"{encoded_part(self._replayer.queue)}:{letter.id}"), value, PAYLOADS_KEPT
        )
        await keep_payload(self._server, copy)
        return replace(letter, fields=edited(letter.fields, [copy.reference]), payload_key=copy.key)

    def needs_us(self, letter: DeadLetter) -> bool:
        """Whether the script cannot move a letter by itself: it refers to a payload, or has to be taken apart."""
        return self._refers(letter) or _is_taken_apart(letter)

    def _refers(self, letter: DeadLetter) -> bool:
        """Whether a letter refers to a payload beside a stream of the replay; whatever else it names is a field."""
        return any(
            is_part_of(letter.payload_key or "", stream, StreamPart.PAYLOADS)
            for stream in self._replayer.sources
        )

    def _route_of(self, letter: DeadLetter) -> ReplayRoute | None:
        stream = "" if self._replayer.anywhere else letter.origin or ""
        group = "" if self._replayer.mode == ReplayMode.REPUBLISH else letter.group or ""
        return self._routes.get((stream, group))

    def _handed_on(self, route: ReplayRoute, letter: DeadLetter) -> list[bytes]:
        """What the script in the other slot needs of a letter."""
        edits = self._replayer.edits
        if self._replayer.mode == ReplayMode.REDELIVER:
            return [str(letter.origin_id).encode()] if letter.origin_id else []
        fields = (
            republished(letter, edits)
            if self._replayer.mode == ReplayMode.REPUBLISH
            else retried(letter, route.home, route.to_group, edits)
        )
        return [part for pair in fields for part in pair]


_THERE: Final = frozenset({"moved", "already"})
_WITHIN: Final = ReplayRoute("", "", "", "")
"""Whatever one script on the queue reaches."""


def _target_of(route: ReplayRoute | None) -> ReplayRoute | None:
    """The same for all routes whose letters one script hands on, whatever they say of themselves."""
    if route is None:
        return None
    return _WITHIN if route.atomic else replace(route, stream="", group="")


def _way(route: ReplayRoute) -> ScriptRoute:
    return ScriptRoute(route.stream, route.group, route.home, route.key, route.to_group)


def _is_taken_apart(letter: DeadLetter) -> bool:
    return letter.shape is DeadLetterShape.FOREIGN or bool(letter.problem)


def _is_rewritten(letter: DeadLetter) -> bool:
    """Whether a letter refers to a copy of its payload."""
    return letter.payload_key is not None and (
        PAYLOAD,
        letter.payload_key.encode("utf-8", "surrogateescape"),
    ) not in (letter.entry.fields)


def _taken(letter: DeadLetter) -> ParsedDeadLetter:
    return ParsedDeadLetter(letter.fields, letter.born_id, letter.payload_key)


def _batches(letters: Sequence[DeadLetter]) -> Iterator[list[DeadLetter]]:
    """Dead letters in portions that one script should take."""
    batch: list[DeadLetter] = []
    weight = 0
    for letter in letters:
        size = sum(len(name) + len(value) for name, value in letter.fields)
        if batch and (weight + size > PAGE_BYTES or len(batch) == PLACED):
            yield batch
            batch, weight = [], 0
        batch.append(letter)
        weight += size
    if batch:
        yield batch


def _those(
    letters: Sequence[DeadLetter], told: Sequence[DeadLetterMove], became: str
) -> list[tuple[str, str]]:
    return [
        (str(one.id), place.why) for one, place in zip(letters, told, strict=True) if place.became == became
    ]


def _skipped(rows: Sequence[tuple[str, str]]) -> list[Skipped]:
    return [Skipped(one, why) for one, why in rows]


def _failed(rows: Sequence[tuple[str, str]]) -> list[Failed]:
    return [Failed(one, why) for one, why in rows]


_WRITES: Final = {
    ReplayMode.REPUBLISH: ("XADD",),
    ReplayMode.RETRY: ("XGROUP CREATE", "XADD"),
    ReplayMode.REDELIVER: ("XCLAIM", "XPENDING"),
}


async def apply_replay(run: Run, intent: ReplayIntent, evidence: ReplayEvidence, _: Plan) -> None:
    """Move them batch by batch: inside the server where all of them can, else letter by letter through us."""
    letters = evidence.letters
    if letters.last is None:
        return
    mover = Mover(run, replayer_of(intent, evidence), evidence.routes)
    if intent.filters or not all(route.atomic for route in evidence.routes):
        await _move_chosen(run, intent, evidence, mover, letters.last)
    else:
        await _move_all(run, intent, evidence, mover, letters.last)
    if run.remaining:
        run.note(gone_meanwhile(run.remaining))


async def _move_all(
    run: Run, intent: ReplayIntent, evidence: ReplayEvidence, mover: Mover, last: EntryId
) -> None:
    after, ended = evidence.letters.after, False
    while not ended and run.remaining:
        size = await run.batch_size(BATCH)
        moved = await mover.move(DeadLetterBatch(after=after, last=last, count=size))
        after, ended = moved.last_id or after, moved.ended
        await mover.report(moved, after)
        if moved.again:
            pages = dead_letter_pages(run.server, intent.queue, evidence.letters.source, after, last)
            after = await _move_shipped(run, mover, pages) or last


async def _move_shipped(run: Run, mover: Mover, pages: AsyncIterator[list[DeadLetter]]) -> EntryId | None:
    """Move letters that the script cannot move by itself, and all between them; the last one's ID, none at the end.

    If there are many, others are likely to follow: the first page with few of them is the last one here.
    """
    async for page in pages:
        await _move_page(run, mover, page)
        if not run.remaining:
            break
        after = page[-1].id
        await run.report(0, cursor=str(after))
        if FEW * sum(map(mover.needs_us, page)) < len(page):
            return after
    return None


async def _move_page(run: Run, mover: Mover, page: Sequence[DeadLetter]) -> None:
    async for batch in run.batches(page, BATCH):
        await mover.move_read(batch)
        await run.report(0, cursor=str(batch[-1].id))


async def _move_chosen(
    run: Run, intent: ReplayIntent, evidence: ReplayEvidence, mover: Mover, last: EntryId
) -> None:
    letters = evidence.letters
    chosen_by = DeadLetterFilter(intent)
    async for page, at in chosen_dead_letters(
        run.server, intent.queue, letters.source, chosen_by, after=letters.after, last=last
    ):
        await _move_page(run, mover, page)
        if not run.remaining:
            return
        await run.report(0, cursor=str(at))


def resolve_replay(intent: ReplayIntent, evidence: ReplayEvidence) -> ReplayIntent:
    """The intent with its bounds, its mode and its routes, so that going on with it is the same replay."""
    letters = evidence.letters
    return replace(
        intent,
        since=None,
        until=None,
        count=None,
        after=letters.after,
        last=letters.last,
        mode=evidence.mode,
        routes=evidence.routes,
    )


def resume_replay(intent: ReplayIntent, job: Job) -> ReplayIntent:
    """The rest of it: what is still there up to the same last letter.

    Dead letters that were left or failed are passed over: it goes on after the job's cursor. Without any, all before the
    cursor were handed on; but a primary that died may have taken its last moments along, and its successor has them
    again.
    """
    if not job.cursor or not (job.skipped or job.failed):
        return intent
    return replace(intent, after=EntryId.parse(job.cursor))


def _writes(intent: ReplayIntent) -> Writes:
    mode = intent.mode or ReplayMode.REPUBLISH
    keys = dict.fromkeys(route.key for route in intent.routes)
    noted = [replayed_key(route.home) for route in intent.routes if mode is ReplayMode.REPUBLISH]
    markers = [("SET", route.home) for route in intent.routes if not route.atomic]
    return (
        ("XDEL", intent.queue),
        # Payloads that letters refer to are kept for a while.
        ("EXPIRE", intent.queue),
        *((command, key) for key in keys for command in _WRITES[mode]),
        *dict.fromkeys(markers),
        # What is added again is noted down, and known again by that.
        *((command, key) for key in dict.fromkeys(noted) for command in ("ZADD", "ZRANGE", "ZREM", "EXPIRE")),
    )


REPLAY: Final = Operation(
    intent=ReplayIntent,
    survey=survey_replay,
    plan=plan_replay,
    apply=apply_replay,
    writes=_writes,
    key="queue",
    job_from=0,
    resume=resume_replay,
    fixed=True,
    resolve_defaults=resolve_replay,
)
OPERATIONS = (REPLAY,)
