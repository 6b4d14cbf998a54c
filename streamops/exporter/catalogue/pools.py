"""The families of pools and their controllers."""

from typing import Final

from streamops.exporter.catalogue.family import Family, Scope

_POOL = Scope(("pool",), "off the scrape, every 5 s: one HGETALL a pool")
_DECISION: Final = "the last decision of whoever leads the pool"
_NOBODY: Final = "absent while no controller leads the pool"

AUTOSCALER_SIZES: Final[tuple[Family, ...]] = (
    _POOL.gauge(
        "autoscaler_current_replicas",
        "workers",
        f"Workers that the pool was to have when its controller last looked; {_NOBODY}, or could not look.",
        _DECISION,
    ),
    _POOL.gauge(
        "autoscaler_desired_replicas",
        "workers",
        f"Workers that its controller wants it to have; {_NOBODY}, or could not look.",
        _DECISION,
    ),
    _POOL.gauge(
        "autoscaler_min_replicas", "workers", f"The least workers in force; {_NOBODY}.", "its controller"
    ),
    _POOL.gauge(
        "autoscaler_max_replicas", "workers", f"The most workers in force; {_NOBODY}.", "its controller"
    ),
    _POOL.gauge(
        "autoscaler_last_evaluation_timestamp_seconds",
        "seconds",
        "When a controller last decided about the pool, whether or not it could look; stays for a day when it ends.",
        "TIME",
    ),
    _POOL.counter(
        "autoscaler_apply_errors_total",
        "errors",
        "How often whoever runs the pool's workers failed or refused to set their number, ever.",
        "counted in Redis by its controllers",
    ),
)
AUTOSCALER_DECISIONS: Final = _POOL.counter(
    "autoscaler_decisions_total",
    "decisions",
    "Decisions about the pool, ever, by direction (up, down, hold) and the rule that decided.",
    "counted in Redis by its controllers",
    "direction",
    "reason",
)
AUTOSCALER_SIGNAL: Final = _POOL.gauge(
    "autoscaler_signal",
    "",
    "What the last decision rests on: arrivals, expected_arrivals and worker_rate in entries a second; wait,"
    " predicted_wait, objective and start_up in seconds; busy as a share; cap in workers beyond which more do not help."
    f" A signal that was not known is absent; {_NOBODY}.",
    _DECISION,
    "signal",
)
