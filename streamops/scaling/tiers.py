"""How much work waits, by what is known of the lag."""

from streamops.model.scaling import Demand


def waiting(demand: Demand) -> int | None:
    """Entries that wait; none where no count can be trusted.

    A lag with nothing behind the last delivered entry is a phantom, and nothing waits; the same where at most
    none do.
    """
    if demand.probed_empty or demand.lag.upper == 0:
        return 0
    return demand.lag.entries if demand.lag.known else None


def at_least(demand: Demand) -> int:
    """Entries that wait for certain."""
    if demand.probed_empty:
        return 0
    known = waiting(demand)
    return known if known is not None else demand.lag.lower or 0


def phantom(demand: Demand) -> bool:
    """Whether the lag counts entries that are not there."""
    return demand.probed_empty and bool(demand.lag.entries)
