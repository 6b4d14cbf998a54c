"""When a health rule speaks: the numbers an operator may change."""

from datetime import timedelta
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict

Count = Annotated[int, Meta(ge=1)]
Ratio = Annotated[float, Meta(gt=0, le=1)]


class Thresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The thresholds of the health rules.

    Durations are spans on the server's clock and always positive. ``ValueError`` where one is not;
    msgspec turns that into its own error with a path when it decodes one.

    Attributes:
        stopped_after: Entries waited and none was delivered for this long: ``stopped``. Default 2 minutes.
        stalled_after: Entries were pending and none was acknowledged for this long: ``stalled``.
            Default 5 minutes.
        no_consumers_after: Entries waited this long for a group without consumers: ``no_consumers``.
            Default 1 minute.
        consumer_unseen: A consumer that holds pending entries was not seen for this long:
            ``dead_consumer``. Keep it above the longest block of a read plus the longest handling of a
            batch. Default 10 minutes.
        pending_age: The oldest pending entry has been with consumers for this long: ``pending_old``.
            Default 15 minutes.
        poison_deliveries: A pending entry was delivered at least this often: ``poison``. Default 10.
        lag_growing_for: The lag grew over this span: ``lag_growing``. Default 5 minutes.
        lag_growing_entries: A growing lag matters from this many entries on. Default 1,000.
        lag_growing_ratio: A lag has grown where it is this many times what it was when the span began.
            Default 1.2.
        time_lag: The first entry not delivered has waited this long: ``behind``; and a growing lag matters,
            whatever its count. Default 5 minutes.
        time_lag_critical: Either is critical from this time lag on. Default 30 minutes.
        retention_ratio: Share of a stream that is being trimmed which a group has still to read:
            ``retention_edge``. Default 0.8.
        dead_letters: Entries in a dead-letter stream: ``dead_letters``. Default 1.
        dead_letters_growth: Dead letters are critical where this many were added within
            ``dead_letters_growth_within``. Default 10.
        dead_letters_growth_within: The span for that. Default 15 minutes.
        delayed_overdue: The first delayed message has been due for this long: ``delayed_overdue``. Default 2 minutes.
        report_for: How long a ``rewound`` or ``lost`` is reported after it was seen. Default 10 minutes.
        eviction_memory: Share of maxmemory in use from which a policy that evicts is critical:
            ``eviction_risk``. Default 0.7.
        oom_memory: Share of maxmemory in use from which a policy that refuses writes is critical:
            ``oom``. Default 0.9.
    """

    stopped_after: timedelta = timedelta(minutes=2)
    stalled_after: timedelta = timedelta(minutes=5)
    no_consumers_after: timedelta = timedelta(minutes=1)
    consumer_unseen: timedelta = timedelta(minutes=10)
    pending_age: timedelta = timedelta(minutes=15)
    poison_deliveries: Count = 10
    lag_growing_for: timedelta = timedelta(minutes=5)
    lag_growing_entries: Count = 1_000
    lag_growing_ratio: Annotated[float, Meta(gt=1)] = 1.2
    time_lag: timedelta = timedelta(minutes=5)
    time_lag_critical: timedelta = timedelta(minutes=30)
    retention_ratio: Ratio = 0.8
    dead_letters: Count = 1
    dead_letters_growth: Count = 10
    dead_letters_growth_within: timedelta = timedelta(minutes=15)
    delayed_overdue: timedelta = timedelta(minutes=2)
    report_for: timedelta = timedelta(minutes=10)
    eviction_memory: Ratio = 0.7
    oom_memory: Ratio = 0.9

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, timedelta) and value <= timedelta(0):
                raise ValueError(f"{name} must be longer than zero")
