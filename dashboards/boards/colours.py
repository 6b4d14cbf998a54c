"""Colours that mean something, and from which value on."""

from typing import Final

from streamops.model.observation import FindingCode
from streamops.monitor.thresholds import Thresholds

OK: Final = "green"
NOTICE: Final = "blue"
WARN: Final = "orange"
CRITICAL: Final = "red"
QUIET: Final = "text"

Steps = tuple[tuple[float | None, str], ...]
"""A colour from a value on; the first has no value."""

NEUTRAL: Final[Steps] = ((None, QUIET),)
ANY: Final = 0.5
"""One of something: an increase that Prometheus extrapolates may come out a little lower."""

ANY_NOTICE: Final[Steps] = ((None, OK), (ANY, NOTICE))
ANY_WARN: Final[Steps] = ((None, OK), (ANY, WARN))
ANY_CRITICAL: Final[Steps] = ((None, OK), (ANY, CRITICAL))
UP: Final[Steps] = ((None, CRITICAL), (1, OK))
HEALTH: Final = Thresholds()
"""When the health rules speak unless configured otherwise: boards change colour at the same values."""
TIME_LAG: Final[Steps] = (
    (None, OK),
    (HEALTH.time_lag.total_seconds(), WARN),
    (HEALTH.time_lag_critical.total_seconds(), CRITICAL),
)
PENDING_AGE: Final[Steps] = ((None, OK), (HEALTH.pending_age.total_seconds(), WARN))
UNSEEN: Final[Steps] = ((None, OK), (HEALTH.consumer_unseen.total_seconds(), WARN))
OVERDUE: Final[Steps] = ((None, OK), (HEALTH.delayed_overdue.total_seconds(), CRITICAL))
DELIVERIES: Final[Steps] = ((None, OK), (3, NOTICE), (HEALTH.poison_deliveries, WARN))
MEMORY: Final[Steps] = ((None, OK), (HEALTH.eviction_memory, WARN), (HEALTH.oom_memory, CRITICAL))
RETENTION: Final[Steps] = ((None, OK), (0.5, NOTICE), (HEALTH.retention_ratio, WARN))
BUSY: Final[Steps] = ((None, OK), (0.8, WARN), (0.95, CRITICAL))
FAILURES: Final[Steps] = ((None, OK), (0.01, NOTICE), (0.05, WARN))
DRAIN: Final[Steps] = ((None, OK), (600, WARN), (3600, CRITICAL))
SNAPSHOT: Final[Steps] = ((None, OK), (60, WARN), (120, CRITICAL))

_NEEDS_SOMEBODY_NOW: Final = {
    "stopped",
    "stalled",
    "lost",
    "dangling_pending",
    "oom",
    "streams_gone",
    "eviction_risk",
    "delayed_overdue",
}
STATUS_COLOURS: Final[dict[str, str]] = {
    "ok": OK,
    "unknown": NOTICE,
    **{code.value: CRITICAL if code in _NEEDS_SOMEBODY_NOW else WARN for code in FindingCode},
}
"""Of what ``group_status`` may say."""

STATE_COLOURS: Final[dict[str, str]] = {
    "running": OK,
    "starting": NOTICE,
    "paused": NOTICE,
    "draining": WARN,
    "stalled": CRITICAL,
    "other": NOTICE,
}
"""Of what a worker may be doing."""
