"""``streamops autoscale simulate``: what the policy would do, beside others, on loads whose answer is known."""

from collections.abc import Sequence
from random import Random
from typing import Any

import click

from streamops.analysis.wording import counted
from streamops.cli.command import Command
from streamops.cli.contests import play_all
from streamops.cli.histories import history_of_file, history_of_stream
from streamops.cli.session import Session, with_session
from streamops.cli.simulate_options import simulate_options
from streamops.cli.simulating import SINCE, Wanted
from streamops.errors import SettingsError
from streamops.present.columns.replayed import TOLD_COLUMNS, TRACE_COLUMNS, TRACE_DETAIL_COLUMNS
from streamops.present.columns.standings import (
    STANDING_COLUMNS,
    STANDING_DETAIL_COLUMNS,
    score_columns,
)
from streamops.present.scaling import (
    FIXED_TEXT,
    changes,
    contest_document,
    guards_text,
    history_document,
    history_text,
    score_rows,
    told_json,
    trace_document,
)
from streamops.present.units import rate
from streamops.scaling.simulator.contest import BY_NAME, FIXED, OURS, heats
from streamops.scaling.simulator.history import History, replay_history
from streamops.scaling.simulator.ours import Ours, configured
from streamops.scaling.simulator.result import Step
from streamops.scaling.simulator.shapes import arrivals
from streamops.scaling.simulator.simulate import simulate as run_load
from streamops.scaling.simulator.standings import FIXED_ROWS, standings
from streamops.scaling.simulator.world import NOMINAL, World


@click.command(
    cls=Command,
    short_help="Score the policy on load shapes, or on a recorded load.",
    examples=[
        ("streamops autoscale simulate", "fourteen load shapes, ours beside eight others"),
        ("streamops autoscale simulate --shape step --trace", "each decision of one run, with its reason"),
        (
            "streamops autoscale simulate --max 40 --objective 1m --handler-time 500ms --details",
            "workers like yours",
        ),
        (
            "streamops autoscale simulate --stream orders --since 12h --rate 200/s --fixed 8",
            "what it would have done last night",
        ),
        ("streamops autoscale simulate --history arrivals.csv --rate 200/s", "the same, of a file"),
    ],
    exits={1: "failed; no such stream, or its IDs are no times", 2: "usage; or a file that is no history"},
)
@simulate_options
@with_session
def simulate(session: Session, /, **values: Any) -> None:
    """Simulate workers under a load, second by second, and say what the policy would have done.

    The score is worker time over a clairvoyant's, and 10 for the share of entries that were late and need not have been,
    0.005 a change and 0.05 a change back: 1 is perfect, lower is better. Nothing is changed anywhere, and only --stream
    asks a server. Pools that go to zero are not simulated.

    A history has a column `time` (RFC 3339, or seconds since 1970) and one of `arrivals` (since the line before),
    `per_second` (a rate) and `added` (a counter), such as a range query of streamops_stream_entries_added_total gives.
    With `handled_per_second`, `workers` and `busy` (0 to 1) besides, the rate of one worker is learned.
    """
    wanted = Wanted(**values)
    wanted.check()
    if wanted.recorded:
        _history(session, wanted)
    elif wanted.trace:
        _trace(session, wanted, wanted.shapes[0], _steps(wanted))
    else:
        _contest(session, wanted)


def _contest(session: Session, wanted: Wanted) -> None:
    against = wanted.others
    shown = (OURS, *(name for other in against for name in (FIXED_ROWS if other == FIXED else (other,))))
    scores = session.printer(score_columns(shown)) if not wanted.details else None
    rows = session.printer(STANDING_COLUMNS, STANDING_DETAIL_COLUMNS) if wanted.details else None
    seeds = range(wanted.seed, wanted.seed + wanted.seeds)
    world = None if wanted.changed else wanted.world(wanted.rate)
    loads = heats(wanted.named, seeds, Random, world=world, against=against, interval=wanted.interval)
    found = standings(play_all(session, loads, wanted.processes))

    def document() -> dict[str, Any]:
        return contest_document(loads, found, wanted.interval)

    if scores is not None:
        scores.print_rows(score_rows(found), document)
    elif rows is not None:
        rows.print_rows(found, document)
    if FIXED in against:
        session.narrator.note(FIXED_TEXT)
    session.narrator.note(guards_text(found))


def _steps(wanted: Wanted) -> Sequence[Step]:
    """The looks of ours at one shape, under the first seed."""
    (load,) = heats(
        wanted.shapes,
        [wanted.seed],
        Random,
        world=None if wanted.changed else wanted.world(wanted.rate),
        interval=wanted.interval,
    )
    shape, ours = BY_NAME[load.shape], Ours(configured(load.world), wanted.interval)
    counts = arrivals(shape, Random(f"{load.seed}:1"))  # noqa: S311 - no cryptography
    return run_load(shape, load.world, counts, ours, Random(f"{load.seed}:2")).steps  # noqa: S311 - the same


def _trace(session: Session, wanted: Wanted, name: str, steps: Sequence[Step]) -> None:
    told = changes(steps)
    session.printer(TRACE_COLUMNS, TRACE_DETAIL_COLUMNS).print_rows(
        told, lambda: trace_document(name, told, wanted.interval)
    )
    session.narrator.note(
        f"{len(steps):,} looks, {wanted.interval} s apart; those are told at which the rule or the number changed"
    )


def _history(session: Session, wanted: Wanted) -> None:
    against = wanted.others
    printer = session.printer(TOLD_COLUMNS) if not wanted.trace else None
    history, world, fixed = _recorded(session, wanted)
    note = session.narrator.note
    note(history_text(history))
    for line in history.missing:
        note(f"missing: {line}")
    if history.step > wanted.interval:
        note(f"one figure stands for up to {history.step:,.0f} s: bursts shorter than that cannot be seen")
    replayed = replay_history(history, world, Random, interval=wanted.interval, fixed=fixed, against=against)
    if printer is None:
        _trace(session, wanted, wanted.history or wanted.stream or "", replayed.steps)
        return
    printer.print_rows(
        replayed.told, lambda: history_document(history, world, replayed, wanted.interval), told_json
    )


def _recorded(session: Session, wanted: Wanted) -> tuple[History, World, tuple[int, ...]]:
    """The history, the workers and the fixed numbers that are compared with."""
    if wanted.history is not None:
        history, learned = history_of_file(wanted.history)
        return history, _workers(session, wanted, learned), wanted.fixed
    # Before the server is asked, so that a missing option costs nothing.
    world = _workers(session, wanted, None)
    stream = wanted.stream or ""
    history, consumers = history_of_stream(
        session, stream, wanted.group, wanted.since or SINCE, wanted.max_scan
    )
    if wanted.fixed or not consumers:
        return history, world, wanted.fixed
    session.narrator.note(
        f"group {wanted.group} has {counted(consumers, 'consumer that was', 'consumers that were')} seen lately:"
        " compared with as many workers"
    )
    return history, world, (consumers,)


def _workers(session: Session, wanted: Wanted, learned: float | None) -> World:
    """The workers of a history: their rate as it was given, else as the file tells it."""
    if wanted.rate is None and wanted.handler_time is None and learned is None:
        raise SettingsError(
            "how fast is one worker?",
            "Say --rate 200/s, or --slots 16 --handler-time 75ms: `handler_duration_seconds` of the workers' metrics tells.",
        )
    world = wanted.world(wanted.rate or (None if wanted.handler_time else learned))
    source = "" if wanted.rate or wanted.handler_time else ", as the file's busy workers did"
    session.narrator.note(
        f"one worker handles {rate(world.rate)}{source}; {world.minimum} to {world.maximum} workers, waits of at most"
        f" {world.objective:g} s, a start-up of {world.late * NOMINAL:g} s"
    )
    return world
