"""Numbers in sentences."""

from math import isinf


def spell(count: float) -> str:
    """A number with its thousands apart, with one decimal below ten where it has any."""
    return f"{count:,.1f}" if count < 10 and count != int(count) else f"{count:,.0f}"  # noqa: PLR2004


def seconds(span: float) -> str:
    """A time."""
    return "without end" if isinf(span) else f"{span:,.0f} s"


def speed(rate: float) -> str:
    """Entries a second."""
    return f"{spell(rate)}/s"


def workers(count: int) -> str:
    """Some workers."""
    return f"{count:,} worker" if count == 1 else f"{count:,} workers"


def handling(count: int) -> str:
    """Some workers, and that they handle what follows."""
    return f"{workers(count)} {'handles' if count == 1 else 'handle'}"
