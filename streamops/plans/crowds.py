"""What it takes to look at a stream's groups: the server tells of all of them, or of none.

Scripts look at them before they write, so that each step holds the server the longer, the more there are. Measured on
Redis 6.2 to 8.0 and Valkey 8.1 and 9.1, with 10,000 groups: 10 to 16 ms for one position, 18 to 20 for all of them, 39 to 55
where each has pending entries and their oldest are asked for.
"""

from typing import Final

ONE_A_MILLISECOND: Final = 700
"""Groups looked at in a millisecond by a script that asks for the position of one of them."""

ALL_A_MILLISECOND: Final = 550
"""The same where all positions are compared with those of a plan."""

NEEDS_A_MILLISECOND: Final = 220
"""The same where their oldest pending entries are asked for too."""

LONG: Final = 10
"""Milliseconds that a script is to hold the server for at most."""


def crowd_warnings(groups: int, a_millisecond: int, stream: str = "") -> tuple[str, ...]:
    """What to know of a stream with so many groups that a script cannot look at them within its time.

    Args:
        groups: How many it has.
        a_millisecond: How many of them are looked at in a millisecond.
        stream: Its name, where it is not the one that the plan is about.
    """
    if groups < LONG * a_millisecond:
        return ()
    whose = f"Stream {stream}" if stream else "The stream"
    looks = f"{whose} has {groups:,} groups, and each step looks at all of them"
    return (f"{looks}: it holds the server for about {groups // a_millisecond} ms.",)
