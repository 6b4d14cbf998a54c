"""Numbers as people type them, in filters and options: ``1k``, ``10,000``, ``5m``, ``1h30m``, ``64kb``, ``50%``."""

import re
from typing import Final

_NUMBER: Final = r"[0-9][0-9,_]*(?:\.[0-9]+)?"
_PART: Final = re.compile(rf"({_NUMBER})\s*([A-Za-z%/]*)")

SPANS: Final = {
    "": 1.0,
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3_600.0,
    "d": 86_400.0,
    "w": 604_800.0,
}
COUNTS: Final = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "/s": 1.0, "k/s": 1e3, "m/s": 1e6}
SIZES: Final = {"": 1.0, "b": 1.0} | {
    f"{letter}{unit}": float(base**power)
    for power, letter in enumerate("kmgt", 1)
    for unit, base in (("", 1000), ("b", 1024), ("ib", 1024))
}
"""As redis.conf has them: 1m is a million bytes, 1mb is 1,048,576."""
SHARES: Final = {"": 1.0, "%": 0.01}


def parse_measure(text: str, units: dict[str, float]) -> float | None:
    """The sum of the numbers of a text in their units; none where it is not made of such."""
    sign, text = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
    total, at = 0.0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or (factor := units.get(part[2].casefold())) is None:
            return None
        total += float(part[1].replace(",", "").replace("_", "")) * factor
        at = part.end()
    return sign * total if text else None
