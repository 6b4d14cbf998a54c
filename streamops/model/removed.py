"""What was removed, and what does the same."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

_RECORDINGS: Final = "Recordings were removed: Prometheus keeps what the exporter tells, and `streamops status -o jsonl` prints a snapshot."
_SILENCES: Final = "Silences of the console were removed: silence alerts in Alertmanager."
_WEBHOOK: Final = (
    "The webhook target was removed: use the target command, with curl in get and set; see docs/targets.md."
)

_REPEATS: Final = (
    "Repeated notices were removed: Alertmanager's repeat_interval does that, with the rules of dashboards/."
)
_TEST_NOTICES: Final = "Test notices were removed: `apprise --config FILE --tag all --body test` sends one to each address of urls_file."

_REMOVED: Final[Mapping[str, str]] = {
    "streamops tui --record": _RECORDINGS,
    "streamops tui --record-max": _RECORDINGS,
    "streamops tui --replay": _RECORDINGS,
    "console.keymap.replay.*": _RECORDINGS,
    "console.keymap.silence": _SILENCES,
    "notify.repeat_after": _REPEATS,
    "streamops exporter --notify-test": _TEST_NOTICES,
    "pools.*.webhook": _WEBHOOK,
    "pools.*.target = webhook": _WEBHOOK,
}
"""What to say, by commands with their options and by keys of a configuration with their values; ``*`` is anything."""


def removed_hint(name: str) -> str:
    """That something was removed, and what does the same; empty where it never was there."""
    return next((hint for pattern, hint in _REMOVED.items() if fnmatchcase(name, pattern)), "")
