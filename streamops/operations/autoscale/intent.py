"""Pools of workers as what is resized, and their controllers as what is steered."""

from datetime import timedelta
from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, inner, option
from streamops.model.pools import FencingToken

Name = Annotated[
    str, argument("The pool: a name of [pools] or of `streamops run --pool`.", completes="pools")
]
Workers = Annotated[int, argument("The worker count.", metavar="N")]
Span = Annotated[timedelta, option("Duration; then the policy scales again.", "--for", example="1h")]


class ScaleIntent(OperationIntent, frozen=True, kw_only=True):
    """Set a pool's worker count.

    Set a pool's worker count once. The supervisors of `streamops run --workers auto` start or stop workers,
    or the target that [pools.NAME] names does: a Kubernetes object, or a program. It is refused if the count
    changed since it was read. A controller that scales the pool may set another count within seconds: `pools
    override` fixes it for a time.
    """

    operation: ClassVar = "scale.set"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (
        ("streamops pools scale billing 8", "eight workers"),
        ("streamops pools scale billing 8 --current 4", "only if there are four now"),
        ("streamops pools scale billing 8 --dry-run", "how many there are now, and what would happen"),
    )
    exits: ClassVar = {
        1: "the target failed",
        4: "refused: read-only, or not permitted",
        6: "the pool was changed since the plan was made",
    }

    pool: Name
    workers: Workers
    current: Annotated[int | None, option("Refuse unless the worker count is N now.", metavar="N")] = None
    because: Annotated[str, inner("Why, if a controller decided it.")] = ""
    token: Annotated[FencingToken | None, inner("Only while this holds, if a controller decided it.")] = None


class PauseScalingIntent(OperationIntent, frozen=True, kw_only=True):
    """Pause a pool's controller: the worker count stays.

    Stop a pool's controller from changing the worker count, until it is resumed or the time is over. It keeps
    evaluating, and `pools explain` shows what it would have done. The workers go on: `pools pause` pauses
    those.
    """

    operation: ClassVar = "autoscale.pause"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (
        (
            "streamops autoscale pause billing --for 2h --reason 'migration'",
            "the worker count stays for two hours",
        ),
        ("streamops autoscale pause billing", "until `streamops autoscale resume billing`"),
    )
    exits: ClassVar = {
        4: "refused: read-only, or not permitted",
        6: "the pool was changed since the plan was made",
    }

    pool: Name
    span: Annotated[timedelta | None, option("Duration; default: until resumed.", "--for", example="1h")] = (
        None
    )


class ResumeScalingIntent(OperationIntent, frozen=True, kw_only=True):
    """End a pause or an override of a pool's controller.

    End `autoscale pause` or `pools override`: the controller scales by the policy again. The pool's limits
    stay.
    """

    operation: ClassVar = "autoscale.resume"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (("streamops autoscale resume billing", "the policy decides again"),)
    exits: ClassVar = {
        4: "refused: read-only, or not permitted",
        6: "the pool was changed since the plan was made",
    }

    pool: Name


class OverrideIntent(OperationIntent, frozen=True, kw_only=True):
    """Override a pool's controller with a fixed worker count.

    Fix a pool's worker count for a time, an hour unless --for is given. The count takes precedence over the
    policy and over the pool's limits. `streamops autoscale resume POOL` ends it early.
    """

    operation: ClassVar = "autoscale.override"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (
        ("streamops pools override billing 12 --for 4h", "twelve workers during the sale"),
        ("streamops pools override billing 0 --for 10m", "no workers while the database is moved"),
    )
    exits: ClassVar = {
        4: "refused: read-only, or not permitted",
        6: "the pool was changed since the plan was made",
    }

    pool: Name
    workers: Workers
    span: Span = timedelta(hours=1)


class LimitsIntent(OperationIntent, frozen=True, kw_only=True):
    """Change a pool's minimum and maximum.

    Change the minimum and maximum that the pool's controller keeps to, from its next decision on. A limit
    that is not given stays; --reset returns it to the configuration's. --max bounds the plan, as for every
    command, and is not a limit of the pool.

    Raises:
        ValueError: Nothing is given.
    """

    operation: ClassVar = "autoscale.limits"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (
        ("streamops pools limits billing --maximum 40", "up to forty workers"),
        ("streamops pools limits billing --reset", "back to the configuration's"),
    )
    exits: ClassVar = {
        4: "refused: read-only, or not permitted",
        6: "the pool was changed since the plan was made",
    }

    pool: Name
    minimum: Annotated[
        int | None, option("Minimum workers; default: unchanged.", metavar="N", example="2")
    ] = None
    maximum: Annotated[
        int | None, option("Maximum workers; default: unchanged.", metavar="N", example="20")
    ] = None
    reset: Annotated[bool, option("Reset limits that are not given to the configuration's.")] = False

    def __post_init__(self) -> None:
        if self.minimum is None and self.maximum is None and not self.reset:
            raise ValueError("give --minimum, --maximum or --reset")


ControllerIntent = PauseScalingIntent | ResumeScalingIntent | OverrideIntent | LimitsIntent
