"""When a health rule speaks: the numbers an operator may change."""

from datetime import timedelta
from functools import partial
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict

from streamops.model.config_keys import setting

Count = Annotated[int, Meta(ge=1)]
Ratio = Annotated[float, Meta(gt=0, le=1)]
_setting: Final = partial(setting, project=True)


class Thresholds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The thresholds of the health rules.

    Durations are spans on the server's clock and always positive. ``ValueError`` if one is not;
    msgspec turns that into its own error with a path when it decodes one.
    """

    stopped_after: Annotated[
        timedelta, _setting("entries waited and none was delivered for this long: stopped")
    ] = timedelta(minutes=2)
    stalled_after: Annotated[
        timedelta, _setting("entries were pending and none was acknowledged for this long: stalled")
    ] = timedelta(minutes=5)
    no_consumers_after: Annotated[
        timedelta, _setting("entries waited this long for a group without consumers: no_consumers")
    ] = timedelta(minutes=1)
    consumer_unseen: Annotated[
        timedelta,
        _setting(
            "a consumer with pending entries was not seen for this long: dead_consumer; set it longer than a read blocks and a batch takes"
        ),
    ] = timedelta(minutes=10)
    pending_age: Annotated[
        timedelta, _setting("the oldest pending entry has been with consumers for this long: pending_old")
    ] = timedelta(minutes=15)
    poison_deliveries: Annotated[
        Count, _setting("a pending entry was delivered at least this often: poison")
    ] = 10
    lag_growing_for: Annotated[timedelta, _setting("span over which a lag must grow: lag_growing")] = (
        timedelta(minutes=5)
    )
    lag_growing_entries: Annotated[Count, _setting("minimum lag for lag_growing, in entries")] = 1_000
    lag_growing_ratio: Annotated[
        float,
        Meta(gt=1),
        _setting(
            "minimum growth for lag_growing: the lag is this many times that at the beginning of the span"
        ),
    ] = 1.2
    time_lag: Annotated[
        timedelta,
        _setting(
            "the next undelivered entry has waited this long: behind; lag_growing then needs no minimum lag"
        ),
    ] = timedelta(minutes=5)
    time_lag_critical: Annotated[
        timedelta, _setting("behind and lag_growing are critical from this lag age on")
    ] = timedelta(minutes=30)
    retention_ratio: Annotated[
        Ratio,
        _setting("share of a trimmed stream that a group has yet to read: retention_edge"),
    ] = 0.8
    dead_letters: Annotated[Count, _setting("entries in a dead-letter queue: dead_letters")] = 1
    dead_letters_growth: Annotated[Count, _setting("critical if at least this many were added ...")] = 10
    dead_letters_growth_within: Annotated[timedelta, _setting("... within this span")] = timedelta(minutes=15)
    delayed_overdue: Annotated[
        timedelta, _setting("the first delayed message has been due for this long: delayed_overdue")
    ] = timedelta(minutes=2)
    report_for: Annotated[
        timedelta, _setting("how long a rewind or a loss is reported after it was seen")
    ] = timedelta(minutes=10)
    eviction_memory: Annotated[
        Ratio,
        _setting("share of maxmemory in use from which a policy that evicts is critical: eviction_risk"),
    ] = 0.7
    oom_memory: Annotated[
        Ratio, _setting("share of maxmemory in use from which a policy that refuses writes is critical: oom")
    ] = 0.9

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, timedelta) and value <= timedelta(0):
                raise ValueError(f"{name} must be longer than zero")
