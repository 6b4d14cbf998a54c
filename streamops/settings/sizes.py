"""Numbers of bytes as people write them: ``500MB``, ``2GiB``, or plain bytes."""

import re
from typing import Final

from streamops.errors import SettingsError

_UNITS: Final = {"": 1, "b": 1} | {
    f"{letter}{unit}": base**power
    for power, letter in enumerate("kmgt", 1)
    for unit, base in (("", 1000), ("b", 1000), ("ib", 1024))
}
_WRITTEN: Final = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,3})?) ?([kmgt]?i?b?)", re.IGNORECASE)


def parse_size(written: str) -> int:
    """Read a number of bytes.

    Args:
        written: A number with kB, MB, GB, TB for powers of 1000 and KiB, MiB, GiB, TiB for those of 1024, or none.

    Raises:
        SettingsError: It is none.
    """
    match = _WRITTEN.fullmatch(written.strip())
    if match is None or match[2].lower() not in _UNITS:
        raise SettingsError("no number of bytes", "Write 500MB, 2GiB, or a number of bytes.")
    return int(float(match[1]) * _UNITS[match[2].lower()])
