"""The families of delayed queues, worker processes, pools, servers, and of the exporter itself. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from streamops.exporter.families import Scope, Value, Values
from streamops.exporter.series_limits import namesakes, wants
from streamops.exporter.shown import Labels, Shown
from streamops.model.entries import EPOCH
from streamops.model.observation import QueueCount
from streamops.model.pools import Pool, PoolDecision, WorkerHeartbeat
from streamops.model.streams import MILLISECOND, NO_SUCH_STREAM, ReadError, ServerNode
from streamops.model.text import encodable

FORGOTTEN: Final = timedelta(days=1)
"""A pool that no controller has decided about for this long has none any more, and is left out."""


def instant(at: datetime | None) -> int | None:
    """An instant in milliseconds since the epoch."""
    return None if at is None else (at - EPOCH) // MILLISECOND


def _queues(shown: Shown) -> list[QueueCount]:
    """Queues of delayed messages, without those that would print like another one."""
    queues = shown.reading.extras.queues
    doubles = namesakes([one.queue for one in queues])
    return [one for one in queues if one.queue not in doubles]


def _workers(shown: Shown, number: Callable[[WorkerHeartbeat], int]) -> Values:
    """Numbers of worker processes, added up where names print alike."""
    total: Counter[Labels] = Counter()
    for one in shown.reading.extras.workers:
        total[encodable(one.pool), encodable(one.app)] += number(one)
    return total


def _pools(shown: Shown) -> list[Pool]:
    """Pools that have, or had, a controller, without those that would print like another one."""
    extras = shown.reading.extras
    doubles, now = namesakes([pool.name for pool in extras.pools]), extras.pools_at
    return [
        pool
        for pool in extras.pools
        if pool.name not in doubles
        and pool.last is not None
        and (now is None or now - pool.last.at < FORGOTTEN)
    ]


def _is_led(pool: Pool, now: datetime | None) -> bool:
    return pool.lead is not None and now is not None and pool.lead.until > now


def _while_led(shown: Shown, value: Callable[[Pool], Value]) -> list[Value]:
    """Values of pools, as long as a controller leads them."""
    now = shown.reading.extras.pools_at
    return [value(pool) if _is_led(pool, now) else None for pool in _pools(shown)]


def _decided(shown: Shown, value: Callable[[PoolDecision], Value]) -> list[Value]:
    """Values of the last decisions about pools, if a controller leads them and could look."""
    return _while_led(shown, lambda pool: value(pool.last) if pool.last and pool.last.was_read else None)


def _is_word(text: str) -> bool:
    return text.isascii() and text.isidentifier()


def _nodes(shown: Shown) -> Sequence[ServerNode]:
    """The processes of the server, one of each address."""
    return list({encodable(node.address): node for node in shown.nodes}.values())


def _part(gap: ReadError) -> str:
    if gap.stream is None:
        return "nodes" if gap.part.startswith("node ") else gap.part
    return gap.part or "streams"


def _is_missed(gap: ReadError, shown: Shown) -> bool:
    # What a limit leaves out is counted as omitted.
    if gap.capped or gap.reason == NO_SUCH_STREAM:
        return False
    if gap.stream is None:
        return True
    return (gap.group is None or shown.guards.shows_groups) and wants(shown.guards, gap.stream)


QUEUE: Final = Scope(
    "Delayed messages",
    ("db", "queue"),
    "one script a queue; queues are looked for off the scrape",
    lambda shown: [(shown.database, one.queue) for one in _queues(shown)],
)
IN_WORKERS: Final = "Worker processes, as the server knows them"
IN_POOLS: Final = "Pools and their controllers"
IN_SERVER: Final = "Redis or Valkey"
ITSELF: Final = "The exporter itself"
WORKERS_COST: Final = "off the scrape, every 15 s at most: heartbeats are looked for among all keys"
WORKER_POOL: Final = Scope(IN_WORKERS, ("pool", "app"), WORKERS_COST)
WORKER_STATE: Final = Scope(IN_WORKERS, ("pool", "app", "state"), WORKERS_COST)
POOL: Final = Scope(IN_WORKERS, ("pool",), "off the scrape, one HMGET a pool")
CONTROLLER: Final = Scope(
    IN_POOLS,
    ("pool",),
    "off the scrape, every 5 s: one HGETALL a pool",
    lambda shown: [(pool.name,) for pool in _pools(shown)],
)
POOL_GROUP: Final = Scope(IN_POOLS, ("pool", "stream", "group"), CONTROLLER.cost)
DECISION: Final = Scope(IN_POOLS, ("pool", "direction", "reason"), CONTROLLER.cost)
NODE: Final = Scope(
    IN_SERVER,
    ("address",),
    "one INFO a server process",
    lambda shown: [(one.address,) for one in _nodes(shown)],
)
NODE_INFO: Final = Scope(IN_SERVER, ("address", "flavour", "version", "role", "mode"), NODE.cost)
NODE_CONFIG: Final = Scope(IN_SERVER, ("address", "maxmemory_policy"), NODE.cost)
EXPORTER: Final = Scope(ITSELF, (), "none")
PHASE: Final = Scope(ITSELF, ("phase",), "none")
OMITTED: Final = Scope(ITSELF, ("scope", "reason"), "none")
STAGE: Final = Scope(ITSELF, ("stage",), "none")
PART: Final = Scope(ITSELF, ("part",), "none")
OUTCOME: Final = Scope(ITSELF, ("outcome",), "none")
BUILD: Final = Scope(ITSELF, ("version", "python"), "none")

LAST_DECISION: Final = "the last decision of the pool's controller; absent where it did not know, and while no controller leads the pool"


@QUEUE.family("entries", "ZCARD")
def delayed_entries(shown: Shown) -> Values:
    """Messages in the queue of delayed messages."""
    return [one.messages for one in _queues(shown)]


@QUEUE.family("entries", "ZCOUNT up to TIME")
def delayed_due_entries(shown: Shown) -> Values:
    """Messages that are due and wait only to be moved."""
    return [one.due for one in _queues(shown)]


@QUEUE.family("seconds", "the first member that is a message")
def delayed_next_due_timestamp_seconds(shown: Shown) -> Values:
    """When the first message of the queue is due, or was."""
    return [instant(one.next_due_at) for one in _queues(shown)]


@QUEUE.family("entries", "members without a message")
def delayed_foreign_entries(shown: Shown) -> Values:
    """Members of the queue that another program wrote, at the least; they stay untouched."""
    return [one.foreign for one in _queues(shown)]


@WORKER_STATE.family("workers", "heartbeats")
def workers(shown: Shown) -> Values:
    """Worker processes with a living heartbeat, by what they are doing."""
    return Counter(
        (encodable(one.pool), encodable(one.app), one.state.value) for one in shown.reading.extras.workers
    )


@WORKER_POOL.family("slots", "heartbeats")
def worker_slots(shown: Shown) -> Values:
    """Entries that the worker processes may handle at once."""
    return _workers(shown, lambda one: one.slots)


@WORKER_POOL.family("slots", "heartbeats")
def worker_busy(shown: Shown) -> Values:
    """Entries that the worker processes handle now."""
    return _workers(shown, lambda one: one.busy)


@POOL.family("", "mode")
def pool_paused(shown: Shown) -> Values:
    """Whether the pool is paused: 1 or 0; absent if it was never paused or resumed."""
    return {(encodable(pool),): int(is_paused) for pool, is_paused in shown.reading.extras.paused.items()}


@POOL_GROUP.family("", "its controller")
def autoscaler_info(shown: Shown) -> Values:
    """The group whose work the controller of the pool watches, always 1; stays for a day when the controller ends."""
    return {(pool.name, pool.stream, pool.group): 1 for pool in _pools(shown) if pool.stream and pool.group}


@CONTROLLER.family("workers", LAST_DECISION)
def autoscaler_current_replicas(shown: Shown) -> Values:
    """Workers that the pool was to have when its controller last looked; absent while no controller leads the pool, or could not look."""
    return _decided(shown, lambda last: last.ordered)


@CONTROLLER.family("workers", LAST_DECISION)
def autoscaler_desired_replicas(shown: Shown) -> Values:
    """Workers that its controller wants it to have; absent while no controller leads the pool, or could not look."""
    return _decided(shown, lambda last: last.target)


@CONTROLLER.family("workers", "its controller")
def autoscaler_min_replicas(shown: Shown) -> Values:
    """The least workers in force; absent while no controller leads the pool."""
    return _while_led(shown, lambda pool: pool.minimum)


@CONTROLLER.family("workers", "its controller")
def autoscaler_max_replicas(shown: Shown) -> Values:
    """The most workers in force; absent while no controller leads the pool."""
    return _while_led(shown, lambda pool: pool.maximum)


@CONTROLLER.family("seconds", "TIME")
def autoscaler_last_evaluation_timestamp_seconds(shown: Shown) -> Values:
    """When a controller last decided about the pool, whether or not it could look; stays for a day when it ends."""
    return [instant(pool.last.at if pool.last else None) for pool in _pools(shown)]


@CONTROLLER.family("errors", "counted in Redis by its controllers")
def autoscaler_apply_errors_total(shown: Shown) -> Values:
    """How often the pool's target failed or refused to set the worker count, ever."""
    return [pool.errors for pool in _pools(shown)]


@DECISION.family("decisions", "counted in Redis by its controllers")
def autoscaler_decisions_total(shown: Shown) -> Values:
    """Decisions about the pool, ever, by direction (up, down, hold) and the rule that decided."""
    return {
        (pool.name, direction, reason): number
        for pool in _pools(shown)
        for (direction, reason), number in sorted(pool.decisions.items())
        # Any client can write a field: a word that is not ours could print like another one.
        if _is_word(direction) and _is_word(reason)
    }


@CONTROLLER.family("entries per second", LAST_DECISION)
def autoscaler_arrivals_per_second(shown: Shown) -> Values:
    """Entries added to the pool's stream, each second."""
    return _decided(shown, lambda last: last.signals.arrivals)


@CONTROLLER.family("entries per second", LAST_DECISION)
def autoscaler_expected_arrivals_per_second(shown: Shown) -> Values:
    """The same, forecast for the time when a worker started now would read entries."""
    return _decided(shown, lambda last: last.signals.coming)


@CONTROLLER.family("entries per second", LAST_DECISION)
def autoscaler_worker_entries_per_second(shown: Shown) -> Values:
    """Entries that one worker of the pool handles, each second."""
    return _decided(shown, lambda last: last.signals.rate)


@CONTROLLER.family("seconds", LAST_DECISION)
def autoscaler_wait_seconds(shown: Shown) -> Values:
    """How long the entry added last waits, with the workers that work."""
    return _decided(shown, lambda last: last.signals.wait)


@CONTROLLER.family("seconds", LAST_DECISION)
def autoscaler_predicted_wait_seconds(shown: Shown) -> Values:
    """How long the entry added last is going to wait, once all current workers run."""
    return _decided(shown, lambda last: last.signals.predicted)


@CONTROLLER.family("seconds", LAST_DECISION)
def autoscaler_objective_seconds(shown: Shown) -> Values:
    """The longest that an entry should wait, by the configuration of the controller."""
    return _decided(shown, lambda last: last.signals.objective)


@CONTROLLER.family("ratio", LAST_DECISION)
def autoscaler_busy_ratio(shown: Shown) -> Values:
    """Share of the pool's slots that were busy, from 0 to 1."""
    return _decided(shown, lambda last: last.signals.busy)


@CONTROLLER.family("seconds", LAST_DECISION)
def autoscaler_startup_seconds(shown: Shown) -> Values:
    """How long a worker takes from its start to its first entry."""
    return _decided(shown, lambda last: last.signals.start_up)


@CONTROLLER.family("workers", LAST_DECISION)
def autoscaler_capped_replicas(shown: Shown) -> Values:
    """More workers than this did not help when the controller tried them."""
    return _decided(shown, lambda last: last.signals.cap)


@NODE_INFO.family("", "INFO")
def redis_info(shown: Shown) -> Values:
    """The server process, always 1."""
    observation = shown.reading.observation
    mode = observation.snapshot.server.mode.value if observation else ""
    return {
        (one.address, one.flavour.value, ".".join(map(str, one.version)), one.role, mode): 1
        for one in _nodes(shown)
    }


@NODE.family("bytes", "used_memory")
def redis_memory_used_bytes(shown: Shown) -> Values:
    """Memory that the server uses."""
    return [one.used_memory for one in _nodes(shown)]


@NODE.family("bytes", "maxmemory")
def redis_memory_max_bytes(shown: Shown) -> Values:
    """Limit of the server's memory; absent if there is none."""
    return [one.max_memory or None for one in _nodes(shown)]


@NODE_CONFIG.family("", "INFO")
def redis_config_info(shown: Shown) -> Values:
    """How the server is set up, always 1."""
    return {(one.address, one.maxmemory_policy): 1 for one in _nodes(shown) if one.maxmemory_policy}


@OUTCOME.family("notifications", "the exporter itself")
def notifications_total(_: Shown) -> Values:
    """Notices of --notify, by outcome: sent, failed (at an attempt, which is repeated) or dropped; on /metrics alone."""
    return {}


@EXPORTER.family("", "the scrape")
def up(shown: Shown) -> Values:
    """Whether the last attempt to read the server succeeded: 1 or 0."""
    return [int(shown.reading.health.up)]


@PHASE.family("seconds", "the exporter's own clock")
def scrape_duration_seconds(shown: Shown) -> Values:
    """How long a phase of the last scrape took: collect, judge or render."""
    return {(phase,): value for phase, value in shown.reading.health.phases.items()}


@EXPORTER.family("commands", "the scrape")
def scrape_commands(shown: Shown) -> Values:
    """Commands sent for this snapshot."""
    return [shown.reading.health.commands]


@EXPORTER.family("seconds", "TIME")
def snapshot_timestamp_seconds(shown: Shown) -> Values:
    """When the server was read, by the server's clock."""
    observation = shown.reading.observation
    return [None if observation is None else instant(observation.snapshot.collected_at)]


@EXPORTER.family("streams", "SCAN", cost="off the scrape")
def discovered_streams(shown: Shown) -> Values:
    """Streams that discovery knows."""
    return [shown.reading.health.discovered]


@OMITTED.family("subjects", "the limits in the configuration")
def series_omitted(shown: Shown) -> Values:
    """Streams, groups or consumers (scope) whose metrics are left out, by reason."""
    return shown.omitted


@STAGE.family("errors", "the scrape")
def collect_errors_total(shown: Shown) -> Values:
    """Failures of the exporter to read the server, by stage."""
    return {(stage,): number for stage, number in shown.reading.health.errors.items()}


@PART.family("subjects", "replies that are errors")
def scrape_partial_failures(shown: Shown) -> Values:
    """What could not be read at the last scrape, by part: streams, nodes, or of how many streams or groups which part."""
    parts = Counter(_part(gap) for gap in shown.gaps if _is_missed(gap, shown))
    parts.update(shown.reading.extras.unread)
    return {(part,): number for part, number in sorted(parts.items())}


@BUILD.family("", "the installed package")
def build_info(shown: Shown) -> Values:
    """The exporter, always 1."""
    return {(shown.reading.health.version, shown.reading.health.python): 1}
