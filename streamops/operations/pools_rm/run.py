"""``pools.rm``: forget a pool, after writing its records to a file."""

from typing import Final

from streamops.errors import NotFound, StalePlan, known_hint
from streamops.model.acting import Plan
from streamops.model.entries import LAST_ID, ZERO_ID
from streamops.monitor.context import ServerContext
from streamops.monitor.pools import PoolReader, WorkerReader
from streamops.operations.backups import BackupWriter, forbid_existing, json_line, name_json
from streamops.operations.operation import Operation, Writes
from streamops.operations.pools_rm.intent import RemovePoolIntent
from streamops.operations.pools_rm.plan import RemovePoolEvidence, plan_remove_pool
from streamops.operations.running import Run
from streamops.wire.faults import required
from streamops.wire.keys import POOLS, decisions_key, pool_key
from streamops.wire.pools.records import clear_pool, forget_pool, pairs, pool_keys, read_pool_names
from streamops.wire.reads import read_page
from streamops.wire.server import Server

MOST_KEPT: Final = 10_000
"""More decisions than are kept of a pool: its log is trimmed to about 2,000."""


async def survey_remove_pool(place: ServerContext, intent: RemovePoolIntent) -> RemovePoolEvidence:
    """Read which keys the pool has, and who of it lives.

    Raises:
        NotFound: It has no key.
        SettingsError: There is a file of the backup's name already.
    """
    server, name = place.server, intent.pool
    forbid_existing(intent.backup)
    keys = [key for key in pool_keys(name) if required(await server.single(key, "EXISTS", key), key)]
    if not keys:
        names = await read_pool_names(server)
        raise NotFound(f"no pool {name}: streamops has no records of it", known_hint(name, names, "pools"))
    log = decisions_key(name)
    return RemovePoolEvidence(
        told=tuple(sorted(await _read_told(server, name))),
        keys=tuple(keys),
        decisions=required(await server.single(log, "XLEN", log), log),
        alive=await _alive(place, name),
        backup=intent.backup or "",
    )


async def apply_remove_pool(
    run: Run, intent: RemovePoolIntent, evidence: RemovePoolEvidence, plan: Plan
) -> None:
    """Write its records down and delete them, unless it was told something meanwhile or something of it lives again."""
    server, log = run.server, decisions_key(intent.pool)
    if alive := await _alive(ServerContext(server), intent.pool):
        raise StalePlan(
            f"pool {intent.pool} is in use by now: {alive[0]}", "Nothing was done. Make a new plan."
        )
    with BackupWriter(evidence.backup) as file:
        file.write_lines(
            [
                json_line(
                    {
                        "pool": name_json(intent.pool),
                        "told": {name: name_json(value) for name, value in evidence.told},
                    }
                )
            ]
        )
        file.write(log, await read_page(server, log, ZERO_ID, LAST_ID, MOST_KEPT))
        await clear_pool(server, intent.pool, dict(evidence.told))
        file.kept = True
    await forget_pool(server, intent.pool)
    if evidence.backup:
        run.note(f"Its settings and the decisions about it are in {evidence.backup}.")
    await run.report(plan.count)


async def _read_told(server: Server, name: str) -> list[tuple[str, str]]:
    key = pool_key(name)
    return pairs(required(await server.single(key, "HGETALL", key), f"pool {name}"))


async def _alive(place: ServerContext, name: str) -> tuple[str, ...]:
    """Who of a pool lives, in words. All keys are gone through for heartbeats: a roster may not be permitted to workers."""
    reader = PoolReader(place)
    now, pool, crew = await reader.clock(), await reader.one(name), await reader.of_pool(name)
    found = []
    if pool.lead is not None and (now is None or pool.lead.until > now):
        found.append(f"controller {pool.lead.holder}")
    found += [f"supervisor {one.id} on {one.host}" for one in crew.supervisors]
    beating = {heart.id for heart in (await WorkerReader(place).all()).workers if heart.pool == name}
    return (*found, *(f"worker {one}" for one in sorted(beating | {one.id for one in crew.workers})))


def _writes(intent: RemovePoolIntent) -> Writes:
    key = pool_key(intent.pool)
    return (
        *(("HGET", key), ("HDEL", key), ("HDEL", POOLS)),
        *(("EXPIRE", one) for one in pool_keys(intent.pool)),
    )


OPERATIONS: Final = (
    Operation(
        intent=RemovePoolIntent,
        survey=survey_remove_pool,
        plan=plan_remove_pool,
        apply=apply_remove_pool,
        writes=_writes,
        key="",
        own=True,
    ),
)
