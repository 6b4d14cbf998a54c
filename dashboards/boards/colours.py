"""Colours that mean something, and from which value on."""

from typing import Final

from streamops.model.observation import FindingCode

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
TIME_LAG: Final[Steps] = ((None, OK), (300, WARN), (1800, CRITICAL))
PENDING_AGE: Final[Steps] = ((None, OK), (900, WARN), (3600, CRITICAL))
UNSEEN: Final[Steps] = ((None, OK), (600, WARN))
OVERDUE: Final[Steps] = ((None, OK), (60, WARN), (600, CRITICAL))
DELIVERIES: Final[Steps] = ((None, OK), (3, NOTICE), (11, WARN))
MEMORY: Final[Steps] = ((None, OK), (0.7, WARN), (0.9, CRITICAL))
RETENTION: Final[Steps] = ((None, OK), (0.5, NOTICE), (0.8, WARN))
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
