"""``streamops pools show``, ``pools ls`` and ``explain``: what pools of workers have, and why."""

import sys
from typing import TYPE_CHECKING, Annotated, Final

import click
from msgspec.structs import replace

from streamops.cli.globals import Output
from streamops.cli.options import command
from streamops.cli.printer import print_facts
from streamops.cli.session import Session
from streamops.errors import StreamopsError
from streamops.model.fields import argument
from streamops.model.pools import PoolDecision
from streamops.resources.pools import (
    DECISION_COLUMNS,
    POOL_COLUMNS,
    POOL_DETAIL_COLUMNS,
    PoolRow,
    decision_json,
    pool_facts,
    pool_json,
)

if TYPE_CHECKING:
    from streamops.operations.console import Console

_DECISIONS: Final = 10
_Pool = Annotated[str, argument("", "pools")]


@command(
    examples=[
        ("streamops pools show billing", "its worker count, and the reason"),
        ("streamops pools show billing -o json", "as JSON"),
    ],
    exits={1: "its target fails, or nothing runs its workers"},
)
def show(session: Session, *, pool: _Pool) -> None:
    """Show a pool's worker count, as its target reports it, and the reason.

    KEDA does not report worker counts: for a pool that it scales, this shows the last count that `autoscale
    keda` answered, and as ready the workers that send heartbeats, if any ever did.
    """
    printer = session.printer((*POOL_COLUMNS, *POOL_DETAIL_COLUMNS))

    async def read(console: "Console") -> PoolRow:
        now = await console.pools.clock()
        ((known, size),) = await console.pools.with_sizes([await console.pools.one(pool)], now)
        if size is None and not console.pools.is_kedas(known):
            size = await console.pools.size(pool)
        known = known if known.target else replace(known, target=console.pools.target(pool))
        return PoolRow(known, size, now=now)

    row = session.run(read)
    printer.print_record(row, lambda: {"schema": "streamops.scale.get/1", **pool_json(row)})


@command(
    examples=[
        ("streamops pools ls", "worker counts and reasons"),
        ("streamops pools ls -o jsonl", "the same, a line each"),
    ],
)
def ls(session: Session) -> None:
    """List pools that have a controller or supervisors: current and desired worker counts, and the reason.

    Counts are reported by the supervisors; if something else runs the workers, they are the controller's last
    reading, and `pools show POOL` asks the target.
    """
    printer = session.printer(POOL_COLUMNS, POOL_DETAIL_COLUMNS)

    async def read(console: "Console") -> list[PoolRow]:
        now = await console.pools.clock()
        pools = await console.pools.with_sizes(await console.pools.all(), now)
        return [PoolRow(pool, size, now=now) for pool, size in pools]

    rows = session.run(read)
    printer.print_list("autoscale.ls", "pools", rows, pool_json)
    if not rows:
        session.narrator.note("no pool has a controller, or supervisors that follow one")


@command(
    examples=[
        (
            "streamops pools explain billing",
            "the last decisions, their inputs, what would change them",
        ),
        ("streamops pools explain billing --limit 100 -o jsonl", "a hundred decisions as JSON lines"),
    ],
    exits={1: "no controller has scaled it"},
)
def explain(session: Session, *, pool: _Pool) -> None:
    """Explain a pool's worker count: the last decision, its inputs and what would change it.

    Then earlier decisions, newest first, ten unless --limit is given, without repetitions.
    """
    printer = session.printer(DECISION_COLUMNS)
    limit = session.given.limit or _DECISIONS

    async def read(console: "Console") -> tuple[PoolRow, list[PoolDecision]]:
        known = await console.pools.one(pool)
        row = PoolRow(known, now=await console.pools.clock())
        return row, await console.pools.decisions(pool, limit)

    row, decisions = session.run(read)
    if row.pool.last is None:
        raise StreamopsError(
            f"no controller has scaled pool {pool}",
            "`streamops autoscale run` does, or `autoscale keda`; `pools ls` lists pools.",
        )
    if session.given.output in (Output.TABLE, Output.PLAIN):
        print_facts(pool_facts(row), sys.stdout, output=session.given.output, color=session.allows_color)
        click.echo()
    printer.print_rows(
        decisions,
        lambda: {
            "schema": "streamops.autoscale.explain/1",
            **pool_json(row),
            "last": None if row.pool.last is None else decision_json(row.pool.last),
            "decisions": [decision_json(one) for one in decisions],
        },
        decision_json,
    )
