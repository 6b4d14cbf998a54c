"""What the pulse reads besides what is observed, seldom: it goes through all keys."""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:  # The engine comes along with those; who only looks does not need it.
    from streamops.monitor.delayed import DelayedQueues
    from streamops.monitor.workers import Crowd


class Beside(Struct, frozen=True):
    """What was read last.

    Attributes:
        crowd: Workers and pools; none where they were not read.
        no_crowd: Why not, safe to show; empty where they are being read.
        delayed: Queues of delayed messages; none where they were not read.
        no_delayed: Why not, the same.
    """

    crowd: "Crowd | None" = None
    no_crowd: str = ""
    delayed: "DelayedQueues | None" = None
    no_delayed: str = ""
