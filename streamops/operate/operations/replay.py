"""``replay``: hand the entries of dead letters on, and take the letters out of their queue."""

from typing import Final

from msgspec.structs import replace

from streamops.model.acting import Job, Plan
from streamops.model.acts.replay import ReplayEvidence, ReplayIntent, ReplayMode
from streamops.model.ids import EntryId
from streamops.operate.acting.operation import Operation
from streamops.operate.acting.place import Place
from streamops.operate.acting.run import Run
from streamops.operate.letters import LetterFilter, chosen_letters, survey_letters
from streamops.operate.operations.replay_moves import Mover, replayer_of
from streamops.operate.operations.replay_routes import choose_mode, read_targets, routes_of, stray_letters
from streamops.plans.letters import gone_meanwhile
from streamops.plans.replay import plan_replay
from streamops.wire.writes.replay_words import BATCH, Letters

_WRITES: Final = {
    ReplayMode.REPUBLISH: ("XADD",),
    ReplayMode.RETRY: ("XGROUP CREATE", "XADD"),
    ReplayMode.REDELIVER: ("XCLAIM", "XPENDING"),
}


async def survey_replay(place: Place, intent: ReplayIntent) -> ReplayEvidence:
    """Read which letters are meant, where they came from, and which groups are there."""
    found = await survey_letters(place, intent)
    evidence = ReplayEvidence(identity=found.identity, letters=found.letters, sample=found.sample)
    if not found.letters.count:
        return evidence
    targets = await read_targets(place.server, intent, found.letters)
    mode = choose_mode(intent, targets)
    routes = routes_of(place.server, intent, mode, targets)
    return replace(
        evidence,
        targets=targets,
        routes=routes,
        mode=mode,
        stray=stray_letters(found.letters, mode, routes),
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
        await _move_all(run, mover, letters.after, letters.last)
    if run.remaining:
        run.note(gone_meanwhile(run.remaining))


async def _move_all(run: Run, mover: Mover, after: EntryId, last: EntryId) -> None:
    ended = False
    while not ended and run.remaining:
        size = await run.batch_size(BATCH)
        moved = await mover.move(Letters(after=after, last=last, count=size))
        after, ended = moved.last_id or last, moved.ended
        await mover.report(moved, after)


async def _move_chosen(
    run: Run, intent: ReplayIntent, evidence: ReplayEvidence, mover: Mover, last: EntryId
) -> None:
    letters = evidence.letters
    chosen_by = LetterFilter(intent)
    async for page, at in chosen_letters(
        run.server, intent.queue, letters.source, chosen_by, after=letters.after, last=last
    ):
        rest = page
        while rest and run.remaining:
            size = await run.batch_size(BATCH)
            await mover.move_read(rest[:size])
            await run.report(0, cursor=str(rest[:size][-1].id))
            rest = rest[size:]
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
    """The rest of it: what comes after the job's cursor, up to the same last letter."""
    return replace(intent, after=EntryId.parse(job.cursor)) if job.cursor else intent


def _writes(intent: ReplayIntent) -> tuple[tuple[str, str], ...]:
    mode = intent.mode or ReplayMode.REPUBLISH
    keys = dict.fromkeys(route.key for route in intent.routes)
    markers = [("SET", route.home) for route in intent.routes if not route.atomic]
    return (
        ("XDEL", intent.queue),
        # Payloads that letters refer to are looked for, and kept.
        ("EXISTS", intent.queue),
        ("PERSIST", intent.queue),
        *((command, key) for key in keys for command in _WRITES[mode]),
        *dict.fromkeys(markers),
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
    resume=resume_replay,
    settle=settle_replay,
)
