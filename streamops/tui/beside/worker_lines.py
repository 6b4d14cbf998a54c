"""Worker processes and their pools in full. Pure lines of cells."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from streamops.model.observation import Observation
from streamops.model.pools import Pool, PoolMode
from streamops.model.wording import counted
from streamops.monitor.workers import Crowd
from streamops.present.columns.workers import WORKER_COLUMNS, WORKER_DETAIL_COLUMNS
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.present.units import count, duration, percent
from streamops.present.workers import WorkerRow
from streamops.tui.beside.facts import column_facts
from streamops.tui.details import paragraph
from streamops.tui.paint import BLANK_LINE, Line, cell_width, fit

MOST_POOLS: Final = 4
LONGEST_NAME: Final = 24
OF_WORKER: Final = (*WORKER_COLUMNS[1:], *WORKER_DETAIL_COLUMNS)


def is_paused(pool: Pool | None) -> bool:
    """Whether the workers of a pool were told to read nothing more."""
    return pool is not None and pool.mode == PoolMode.PAUSED


def worker_lines(row: WorkerRow, pool: Pool | None, width: int) -> list[Line]:
    """A worker in full, what it reads, and its pool."""
    heart = row.heart
    lines = paragraph(safe(heart.id), width, Tone.STRONG)
    lines += column_facts(OF_WORKER, row, width)
    lines += [BLANK_LINE, (Cell(" Reads", Tone.STRONG),)]
    for stream, group, consumer in heart.consumers:
        named = "" if consumer == heart.id else f" as {safe(consumer)}"
        lines += paragraph(f"{safe(stream)} ▸ {safe(group)}{named}", width, Tone.PLAIN, hang=2)
    if pool is not None:
        lines += [BLANK_LINE, (Cell(" Pool", Tone.STRONG),), *pool_lines(pool, row.now, width)]
    return lines


def pool_lines(pool: Pool, now: datetime | None, width: int) -> list[Line]:
    """What a pool was told, and what its controller decided last."""
    lines = paragraph(f"{safe(pool.name)} {_mode(pool, now).text}", width, _mode(pool, now).tone)
    if pool.reason and pool.mode:
        lines += paragraph(safe(pool.reason), width, Tone.DIM, indent=3)
    if pool.order is not None:
        by = f", by {safe(pool.order.by)}" if pool.order.by else ""
        lines += paragraph(
            f"told to have {counted(pool.order.workers, 'worker', 'workers')}{by}", width, Tone.PLAIN
        )
    if pool.last is not None:
        lines += paragraph(f"last decision: {safe(pool.last.text)}", width, Tone.PLAIN, hang=2)
    return lines


def crowd_head(crowd: Crowd | None, observation: Observation | None) -> list[Line]:
    """The pools, a line each, and consumers of ours whose worker is dead."""
    if crowd is None:
        return [(Cell(" looking for heartbeats", Tone.DIM),)]
    shown = crowd.pools[:MOST_POOLS]
    widest = min(max((cell_width(safe(pool.name)) for pool in shown), default=0), LONGEST_NAME)
    lines = [_pool_line(pool, crowd, widest) for pool in shown]
    if len(crowd.pools) > MOST_POOLS:
        lines.append((Cell(f" {len(crowd.pools) - MOST_POOLS} more pools", Tone.DIM),))
    dead, held = _dead(observation)
    if dead:
        who = counted(dead, "consumer", "consumers")
        what = counted(held, "entry", "entries")
        text = f" ▲ {who} of ours without a heartbeat hold {what}: a worker of the group takes them over"
        lines.append((Cell(text, Tone.WARN),))
    return lines or [(Cell(" no pool was told anything", Tone.DIM),)]


def reads_words(consumers: Sequence[tuple[str, str, str]]) -> str:
    """What a worker reads, in a few words."""
    pairs = [f"{safe(stream)} ▸ {safe(group)}" for stream, group, _ in consumers]
    return pairs[0] + (f" +{len(pairs) - 1}" if len(pairs) > 1 else "") if pairs else "nothing"


def pools_by_name(pools: Iterable[Pool]) -> Mapping[str, Pool]:
    """Pools by their names."""
    return {pool.name: pool for pool in pools}


def _pool_line(pool: Pool, crowd: Crowd, name_width: int) -> Line:
    hearts = [heart for heart in crowd.workers if heart.pool == pool.name]
    busy, slots = sum(heart.busy for heart in hearts), sum(heart.slots for heart in hearts)
    share = percent(busy / slots, rounded=True) if slots else ""
    told = "" if pool.order is None else f", told to have {count(pool.order.workers)}"
    workers = counted(len(hearts), "worker", "workers") if hearts else "no workers"
    return (
        Cell(f" {fit(safe(pool.name), name_width)}  ", Tone.STRONG),
        _mode(pool, crowd.now),
        Cell(f"  {workers}{told}", Tone.PLAIN if hearts else Tone.WARN),
        Cell(f"  busy {busy}/{slots} {share}" if slots else "", Tone.DIM),
    )


def _mode(pool: Pool, now: datetime | None) -> Cell:
    if pool.problem:
        return Cell("? not known", Tone.WARN)
    if not is_paused(pool):
        return Cell("✓ running", Tone.OK)
    by = f" by {safe(pool.updated_by)}" if pool.updated_by else ""
    since = (
        ""
        if now is None or pool.updated_at is None
        else f" {duration(max(now - pool.updated_at, now - now))} ago"
    )
    return Cell(f"‖ paused{by}{since}", Tone.WARN)


def _dead(observation: Observation | None) -> tuple[int, int]:
    """Consumers of ours without a heartbeat that hold entries, and how many those are."""
    dead = [
        member.pending
        for view in (() if observation is None else observation.streams)
        for group in view.groups
        for member in group.group.members or ()
        if member.alive is False and member.pending
    ]
    return len(dead), sum(dead)
