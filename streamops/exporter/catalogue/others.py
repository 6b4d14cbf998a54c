"""The families of delayed queues, worker processes, servers, and of the exporter itself."""

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
