"""Numbers of bytes as redis.conf writes them: ``500mb``, ``2gb``, or plain bytes."""

from typing import Final

from streamops.errors import SettingsError
from streamops.present.measures import SIZES, parse_measure

LARGEST: Final = 1 << 50


def parse_size(written: str) -> int:
    """Read a number of bytes.

    Args:
        written: A number; with k, m, g or t it counts powers of 1000, with kb or kib and so on those of 1024.

    Raises:
        SettingsError: It is none.
    """
    number = parse_measure(written.strip(), SIZES)
    if number is None or not 0 <= number <= LARGEST:
        raise SettingsError("no number of bytes", "Write 500mb, 2gb, or a number of bytes.")
    return int(number)
