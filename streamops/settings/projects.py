"""What a project's file may set though nobody trusted it: it comes with whatever repository was cloned."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from streamops.settings.decoding import join_key

Allowed = Mapping[str, "Allowed | None"]

ANY: Final = "*"
"""Whatever name a table was given."""

ALLOWED: Final[Allowed] = {
    "default_context": None,
    "health": dict.fromkeys(
        (
            "stopped_after",
            "stalled_after",
            "no_consumers_after",
            "consumer_unseen",
            "pending_age",
            "poison_deliveries",
            "lag_growing_for",
            "lag_growing_entries",
            "lag_growing_ratio",
            "time_lag",
            "time_lag_critical",
            "retention_ratio",
            "dead_letters",
            "dead_letters_growth",
            "dead_letters_growth_within",
            "delayed_overdue",
            "report_for",
            "eviction_memory",
            "oom_memory",
        )
    ),
    "console": dict.fromkeys(("refresh", "theme", "mouse", "color")),
    "views": {ANY: dict.fromkeys(("place", "filter", "sort", "descending", "faults", "columns"))},
}
"""What it may set: how things are shown and judged, and which of the user's own contexts is meant. A key that is not
here opens, sends, runs, authenticates, redirects or acts, or nobody has looked at it yet."""

_DEEPEST: Final = 3
"""Parts of a key that is told of; what lies deeper is told of as one with its table."""


def split_allowed(table: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A file's content without what an untrusted one may not set; and the keys of that."""
    left_out: list[str] = []
    return _split(table, ALLOWED, "", left_out), tuple(left_out)


def stated_keys(table: Mapping[str, Any]) -> tuple[str, ...]:
    """All keys that a file sets."""
    return tuple(key for name, value in table.items() for key in _leaves(value, join_key("", name), 1))


def in_short(keys: tuple[str, ...]) -> str:
    """Some keys in a few words."""
    more = len(keys) - 1
    return f"{keys[0]} and {more:,} more" if more else keys[0]


def _split(
    table: Mapping[str, Any], allowed: Allowed, key: str, left_out: list[str], depth: int = 1
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in table.items():
        written = join_key(key, name)
        known = name if name in allowed else ANY
        if known not in allowed:
            left_out += _leaves(value, written, depth)
        elif (inner := allowed[known]) is not None and isinstance(value, Mapping):
            if part := _split(value, inner, written, left_out, depth + 1):
                kept[name] = part
        else:
            kept[name] = value
    return kept


def _leaves(value: object, key: str, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and value and depth < _DEEPEST:
        for name, inner in value.items():
            yield from _leaves(inner, join_key(key, name), depth + 1)
    else:
        yield key
