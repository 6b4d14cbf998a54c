"""The values of delayed queues, worker processes, servers, gaps and the exporter itself, family by family."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from streamops.exporter.catalogue.others import (
    BUILD_INFO,
    COLLECT_ERRORS,
    GAPS,
    POOL_PAUSED,
    REDIS_CONFIG_INFO,
    REDIS_INFO,
    SCRAPE_DURATION,
    SERIES_OMITTED,
    UP,
    WORKERS,
)
from streamops.exporter.metrics.guards import Guards, Omitted, namesakes, wants
from streamops.exporter.metrics.labels import make_labels
from streamops.exporter.metrics.reading import ExporterHealth
from streamops.exporter.metrics.samples import Block, Samples, labelled, milliseconds, single
from streamops.exporter.metrics.stream_columns import column, instants
from streamops.model.queue_metrics import Extras
from streamops.model.safe_text import encodable
from streamops.model.server import ServerInfo
from streamops.model.snapshot import NO_SUCH_STREAM, Gap, Snapshot

QUEUE = ("db", "queue")
POOL = ("pool", "app")
NODE = ("address",)


def queue_block(extras: Extras, database: str) -> Block:
    """What is told of queues of delayed messages."""
    doubles = namesakes([one.queue for one in extras.queues])
    queues = [one for one in extras.queues if one.queue not in doubles]
    return Block(
        [make_labels(QUEUE, (database, one.queue)) for one in queues],
        (
            column("delayed_entries", [one.messages for one in queues]),
            column("delayed_due_entries", [one.due for one in queues]),
            instants(
                "delayed_next_due",
                [None if one.next_due_at is None else milliseconds(one.next_due_at) for one in queues],
            ),
            column("delayed_foreign_entries", [one.foreign for one in queues]),
        ),
    )


def worker_blocks(extras: Extras) -> Samples:
    """What is told of worker processes and their pools, added up where names print alike."""
    states: Counter[tuple[str, ...]] = Counter()
    slots: Counter[tuple[str, str]] = Counter()
    busy: Counter[tuple[str, str]] = Counter()
    for worker in extras.workers:
        pool = (encodable(worker.pool), encodable(worker.app))
        states[(*pool, worker.state.value)] += 1
        slots[pool] += worker.slots
        busy[pool] += worker.busy
    capacity = Block(
        [make_labels(POOL, pool) for pool in slots],
        (column("worker_slots", list(slots.values())), column("worker_busy", list(busy.values()))),
    )
    paused = {(encodable(pool),): int(is_paused) for pool, is_paused in extras.paused.items()}
    return labelled(WORKERS, states), capacity, labelled(POOL_PAUSED, paused)


def server_blocks(server: ServerInfo) -> Samples:
    """What is told of the server's processes."""
    nodes = list({encodable(node.address): node for node in server.nodes}.values())
    labels = [make_labels(NODE, (node.address,)) for node in nodes]
    info = {
        (node.address, node.flavour.value, ".".join(map(str, node.version)), node.role, server.mode.value): 1
        for node in nodes
    }
    memory = Block(
        labels,
        (
            column("redis_memory_used_bytes", [node.used_memory for node in nodes]),
            column("redis_memory_max_bytes", [node.max_memory or None for node in nodes]),
        ),
    )
    policies = {(node.address, node.maxmemory_policy): 1 for node in nodes if node.maxmemory_policy}
    return labelled(REDIS_INFO, info), memory, labelled(REDIS_CONFIG_INFO, policies)


def exporter_blocks(health: ExporterHealth, snapshot: Snapshot | None, omitted: Omitted) -> Samples:
    """What the exporter tells of itself."""
    left_out = Counter(dict(health.omitted)) + omitted
    scrape = Block(
        [make_labels((), ())],
        (
            column("scrape_commands", [health.commands]),
            instants(
                "snapshot",
                [None if snapshot is None else milliseconds(snapshot.collected_at)],
            ),
            column("discovered_streams", [health.discovered]),
        ),
    )
    return (
        single(UP, int(health.up)),
        labelled(SCRAPE_DURATION, {(phase,): value for phase, value in health.phases.items()}),
        scrape,
        labelled(SERIES_OMITTED, left_out),
        labelled(COLLECT_ERRORS, {(stage,): number for stage, number in health.errors.items()}),
        labelled(BUILD_INFO, {(health.version, health.python): 1}),
    )


STREAMS: Final = "streams"
NODES: Final = "nodes"
PROCESS: Final = "node "


def gap_block(gaps: Iterable[Gap], unread: Iterable[str], guards: Guards) -> Block:
    """How much cannot be read at present, by the part.

    Args:
        gaps: What a snapshot could not read.
        unread: What is read beside snapshots and cannot be.
        guards: What is shown: what is not is not missed.
    """
    parts = Counter(_part(gap) for gap in gaps if _is_missed(gap, guards))
    parts.update(unread)
    values: Mapping[tuple[str], int] = {(part,): number for part, number in sorted(parts.items())}
    return labelled(GAPS, values)


def _part(gap: Gap) -> str:
    if gap.stream is None:
        return NODES if gap.part.startswith(PROCESS) else gap.part
    return gap.part or STREAMS


def _is_missed(gap: Gap, guards: Guards) -> bool:
    # What a limit leaves out is counted as omitted.
    if gap.capped or gap.reason == NO_SUCH_STREAM:
        return False
    if gap.stream is None:
        return True
    return (gap.group is None or guards.shows_groups) and wants(guards, gap.stream)
