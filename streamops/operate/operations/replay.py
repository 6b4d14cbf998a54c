"""``replay``: hand the entries of dead letters on, and take the letters out of their queue."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from msgspec.structs import replace

from streamops.errors import Forbidden
from streamops.model.acting import Job, Plan
from streamops.model.acts.replay import ReplayEvidence, ReplayIntent, ReplayMode
from streamops.model.dead_letters import DeadLetter
from streamops.model.ids import EntryId
from streamops.model.wording import first_few
from streamops.monitor.context import Place
from streamops.monitor.dead_letter_pages import LetterFilter, chosen_letters, letter_pages, survey_letters
from streamops.operate.acting.operation import Operation
from streamops.operate.acting.run import Run
from streamops.operate.operations.replay_moves import Mover, replayer_of
from streamops.operate.operations.replay_routes import choose_mode, read_targets, routes_of, stray_letters
from streamops.plans.letters import gone_meanwhile
from streamops.plans.replay import plan_replay
from streamops.wire.keys import replayed_key
from streamops.wire.writes.replay_words import BATCH, Letters

FEW: Final = 4
"""Of so many letters fewer than one has to pass through us, where the script alone is the faster way."""

_WRITES: Final = {
    ReplayMode.REPUBLISH: ("XADD",),
    ReplayMode.RETRY: ("XGROUP CREATE", "XADD"),
    ReplayMode.REDELIVER: ("XCLAIM", "XPENDING"),
}


async def survey_replay(place: Place, intent: ReplayIntent) -> ReplayEvidence:
    """Read which letters are meant, where they came from, and which groups are there.

    Raises:
        Forbidden: It is no dead-letter queue, and groups have yet to work on its entries.
        StreamopsError: It cannot be read, or nothing tells where the letters go.
    """
    found = await survey_letters(place, intent)
    if found.waiting and not found.is_queue:
        raise _in_use(intent.queue, found.waiting)
    evidence = ReplayEvidence(
        identity=found.identity, letters=found.letters, sample=found.sample, is_queue=found.is_queue
    )
    if not found.letters.count:
        return evidence
    configured = (stream for stream, queue in place.dead_letters.items() if queue == intent.queue)
    sources = tuple(dict.fromkeys(one for one in (found.letters.source, *configured) if one))
    targets, foreign = await read_targets(place.server, intent, found.letters, sources)
    mode = choose_mode(intent, targets)
    routes = routes_of(place.server, intent, mode, targets)
    return replace(
        evidence,
        targets=targets,
        routes=routes,
        mode=mode,
        stray=stray_letters(found.letters, mode, routes, foreign),
        sources=sources,
        foreign=foreign,
    )


def _in_use(stream: str, groups: Sequence[str]) -> Forbidden:
    some = "group" if len(groups) == 1 else "groups"
    return Forbidden(
        f"stream {stream} is no dead-letter queue by its name or the configuration, and {some} "
        f"{first_few(groups)} would lose entries that are pending or unread",
        "Where it is a dead-letter queue all the same, name it in the context's configuration: "
        f'dead_letters = {{ STREAM = "{stream}" }}.',
    )


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
        moved = await mover.move(Letters(after=after, last=last, count=size))
        after, ended = moved.last_id or after, moved.ended
        await mover.report(moved, after)
        if moved.again:
            pages = letter_pages(run.server, intent.queue, evidence.letters.source, after, last)
            after = await _move_shipped(run, mover, pages) or last


async def _move_shipped(run: Run, mover: Mover, pages: AsyncIterator[list[DeadLetter]]) -> EntryId | None:
    """Move letters that the script cannot move by itself, and all between them; the last one's ID, none at the end.

    Where there are many, others are likely to follow: the first page with few of them is the last one here.
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
    while page and run.remaining:
        size = await run.batch_size(BATCH)
        await mover.move_read(page[:size])
        await run.report(0, cursor=str(page[:size][-1].id))
        page = page[size:]


async def _move_chosen(
    run: Run, intent: ReplayIntent, evidence: ReplayEvidence, mover: Mover, last: EntryId
) -> None:
    letters = evidence.letters
    chosen_by = LetterFilter(intent)
    async for page, at in chosen_letters(
        run.server, intent.queue, letters.source, chosen_by, after=letters.after, last=last
    ):
        await _move_page(run, mover, page)
        if not run.remaining:
            return
        await run.report(0, cursor=str(at))


def settle_replay(intent: ReplayIntent, evidence: ReplayEvidence) -> ReplayIntent:
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

    Letters that were left or failed are passed over: it goes on after the job's cursor. Without any, all before the
    cursor were handed on; but a primary that died may have taken its last moments along, and its successor has them
    again.
    """
    if not job.cursor or not (job.skipped or job.failed):
        return intent
    return replace(intent, after=EntryId.parse(job.cursor))


def _writes(intent: ReplayIntent) -> tuple[tuple[str, str], ...]:
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
        # What is added anew is noted down, and known again by that.
        *((command, key) for key in dict.fromkeys(noted) for command in ("ZADD", "ZRANGE", "ZREM", "EXPIRE")),
    )


REPLAY: Final = Operation(
    name="replay",
    summary="Replay dead letters.",
    intent=ReplayIntent,
    survey=survey_replay,
    plan=plan_replay,
    apply=apply_replay,
    writes=_writes,
    stream=lambda intent: intent.queue,
    job_from=0,
    rated=True,
    resume=resume_replay,
    fixed=True,
    settle=settle_replay,
)
