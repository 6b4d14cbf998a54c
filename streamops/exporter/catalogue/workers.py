"""The families of a worker's own endpoint, which ``streamops run --metrics`` serves."""

from typing import Final

from streamops.exporter.catalogue.family import Family, Scope

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
