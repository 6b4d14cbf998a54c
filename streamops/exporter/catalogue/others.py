"""The families of delayed queues, pools, worker processes, servers, and of the exporter itself."""

from typing import Final

from streamops.exporter.catalogue.family import Family, Scope

_QUEUE = Scope(("db", "queue"), "one script a queue; queues are looked for off the scrape")
_WORKERS = Scope(
    ("pool", "app"), "off the scrape, every 15 s at most: heartbeats are looked for among all keys"
)
_POOL = Scope(("pool",), "off the scrape, one HMGET a pool")
_NODE = Scope(("address",), "one INFO a server process")
_SELF = Scope((), "none")

DELAYED: Final[tuple[Family, ...]] = (
    _QUEUE.gauge("delayed_entries", "entries", "Messages in the queue of delayed messages.", "ZCARD"),
    _QUEUE.gauge(
        "delayed_due_entries",
        "entries",
        "Messages that are due and wait only to be moved.",
        "ZCOUNT up to TIME",
    ),
    _QUEUE.gauge(
        "delayed_next_due_timestamp_seconds",
        "seconds",
        "When the first message of the queue is due, or was.",
        "the first member that is a message",
    ),
    _QUEUE.gauge(
        "delayed_foreign_entries",
        "entries",
        "Members of the queue that another program wrote, at the least; they stay untouched.",
        "members without a message",
    ),
)

WORKERS: Final = _WORKERS.gauge(
    "workers",
    "workers",
    "Worker processes with a living heartbeat, by what they are doing.",
    "heartbeats",
    "state",
)
WORKER_SLOTS: Final[tuple[Family, ...]] = (
    _WORKERS.gauge(
        "worker_slots", "slots", "Entries that the worker processes may handle at once.", "heartbeats"
    ),
    _WORKERS.gauge("worker_busy", "slots", "Entries that the worker processes handle now.", "heartbeats"),
)
POOL_PAUSED: Final = _POOL.gauge(
    "pool_paused",
    "",
    "Whether the pool was told to pause: 1 or 0; absent where it was never told anything.",
    "mode",
)

NODES: Final[tuple[Family, ...]] = (
    _NODE.gauge("redis_memory_used_bytes", "bytes", "Memory that the server uses.", "used_memory"),
    _NODE.gauge(
        "redis_memory_max_bytes",
        "bytes",
        "Limit of the server's memory; absent where there is none.",
        "maxmemory",
    ),
)
REDIS_INFO: Final = _NODE.gauge(
    "redis_info", "", "The server process, always 1.", "INFO", "flavour", "version", "role", "mode"
)
REDIS_CONFIG_INFO: Final = _NODE.gauge(
    "redis_config_info", "", "How the server is set up, always 1.", "INFO", "maxmemory_policy"
)

UP: Final = _SELF.gauge(
    "up", "", "Whether the last attempt to read the server succeeded: 1 or 0.", "the scrape"
)
SCRAPE: Final[tuple[Family, ...]] = (
    _SELF.gauge("scrape_commands", "commands", "Commands sent for this snapshot.", "the scrape"),
    _SELF.gauge(
        "snapshot_timestamp_seconds", "seconds", "When the server was read, by the server's clock.", "TIME"
    ),
    _SELF.gauge(
        "discovered_streams", "streams", "Streams that discovery knows.", "SCAN", cost="off the scrape"
    ),
)
SCRAPE_DURATION: Final = _SELF.gauge(
    "scrape_duration_seconds",
    "seconds",
    "How long a phase of the last scrape took: collect, judge or render.",
    "the exporter's own clock",
    "phase",
)
SERIES_OMITTED: Final = _SELF.gauge(
    "series_omitted",
    "subjects",
    "Streams, groups or consumers (scope) whose metrics are left out, by reason.",
    "the limits in the configuration",
    "scope",
    "reason",
)
COLLECT_ERRORS: Final = _SELF.counter(
    "collect_errors_total",
    "errors",
    "Failures of the exporter to read the server, by stage.",
    "the scrape",
    "stage",
)
GAPS: Final = _SELF.gauge(
    "gaps",
    "subjects",
    "What could not be read at the last scrape, by part: streams, nodes, or of how many streams or groups which part.",
    "replies that are errors",
    "part",
)
NOTIFICATIONS: Final = _SELF.counter(
    "notifications_total",
    "notifications",
    "Notices of --notify, by outcome: sent, failed (at an attempt, which is repeated) or dropped; on /metrics alone.",
    "the exporter itself",
    "outcome",
)
BUILD_INFO: Final = _SELF.gauge(
    "build_info", "", "The exporter, always 1.", "the installed package", "version", "python"
)


_CONTROLLER = Scope(("pool",), "off the scrape, every 5 s: one HGETALL a pool")
_DECISION: Final = "the last decision of whoever leads the pool"
_NOBODY: Final = "absent while no controller leads the pool"

AUTOSCALER_SIZES: Final[tuple[Family, ...]] = (
    _CONTROLLER.gauge(
        "autoscaler_current_replicas",
        "workers",
        f"Workers that the pool was to have when its controller last looked; {_NOBODY}, or could not look.",
        _DECISION,
    ),
    _CONTROLLER.gauge(
        "autoscaler_desired_replicas",
        "workers",
        f"Workers that its controller wants it to have; {_NOBODY}, or could not look.",
        _DECISION,
    ),
    _CONTROLLER.gauge(
        "autoscaler_min_replicas", "workers", f"The least workers in force; {_NOBODY}.", "its controller"
    ),
    _CONTROLLER.gauge(
        "autoscaler_max_replicas", "workers", f"The most workers in force; {_NOBODY}.", "its controller"
    ),
    _CONTROLLER.gauge(
        "autoscaler_last_evaluation_timestamp_seconds",
        "seconds",
        "When a controller last decided about the pool, whether or not it could look; stays for a day when it ends.",
        "TIME",
    ),
    _CONTROLLER.counter(
        "autoscaler_apply_errors_total",
        "errors",
        "How often whoever runs the pool's workers failed or refused to set their number, ever.",
        "counted in Redis by its controllers",
    ),
)
AUTOSCALER_DECISIONS: Final = _CONTROLLER.counter(
    "autoscaler_decisions_total",
    "decisions",
    "Decisions about the pool, ever, by direction (up, down, hold) and the rule that decided.",
    "counted in Redis by its controllers",
    "direction",
    "reason",
)
AUTOSCALER_SIGNAL: Final = _CONTROLLER.gauge(
    "autoscaler_signal",
    "",
    "What the last decision rests on: arrivals, expected_arrivals and worker_rate in entries a second; wait,"
    " predicted_wait, objective and start_up in seconds; busy as a share; cap in workers beyond which more do not help."
    f" A signal that was not known is absent; {_NOBODY}.",
    _DECISION,
    "signal",
)


_HANDLER = Scope(("stream", "group", "handler"), "none: counted in the worker")
OWN: Final = "the worker"

WORKER_FAMILIES: Final[tuple[Family, ...]] = (
    _HANDLER.histogram("handler_duration_seconds", "seconds", "Duration of a handler's calls.", OWN),
    _HANDLER.histogram(
        "entry_latency_seconds",
        "seconds",
        "From an entry's birth, by its ID and the server's clock, to the end of its handling.",
        "entry IDs and TIME",
    ),
    _HANDLER.counter("handler_failures_total", "calls", "Calls of a handler that raised.", OWN),
    _HANDLER.counter("retries_total", "entries", "Entries that are tried again.", OWN, "reason"),
    _HANDLER.counter("dead_lettered_total", "entries", "Entries given up.", OWN, "reason"),
    _HANDLER.counter("reclaimed_total", "entries", "Entries taken over from other consumers.", OWN),
    _HANDLER.counter("duplicates_total", "entries", "Entries whose business key another entry had.", OWN),
    _HANDLER.gauge("in_flight", "calls", "Calls under way.", OWN),
    _HANDLER.gauge("concurrency_limit", "calls", "Calls that may be under way.", OWN),
)
