"""What a run tells."""

from msgspec import Struct


class Step(Struct, frozen=True):
    """What happened at one look.

    Attributes:
        second: When.
        ordered: Workers asked for before it.
        ready: Workers that worked.
        queue: Entries not handled.
        wanted: What the policy decided.
        why: Its reason.
    """

    second: int
    ordered: int
    ready: int
    queue: int
    wanted: int
    why: str


class Result(Struct, frozen=True):
    """What a run came to.

    Attributes:
        late: Share of entries that waited longer than the objective.
        p50: The wait that half of the entries stay under, in seconds.
        p99: The wait that 99 of 100 entries stay under, in seconds.
        worker_seconds: Workers paid for, starting ones too.
        actions: Changes of the number of workers.
        flaps: Changes in the other direction within ten minutes.
        drained: Seconds from the disturbance to its end; none where it did not end or there was none.
        most: The most workers there were.
        steps: Every look.
    """

    late: float
    p50: int
    p99: int
    worker_seconds: int
    actions: int
    flaps: int
    drained: int | None
    most: int
    steps: tuple[Step, ...]
