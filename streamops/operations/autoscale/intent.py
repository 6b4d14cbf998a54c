"""Pools of workers as what is resized, and their controllers as what is steered."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, inner, option
from streamops.model.pools import FencingToken

Name = Annotated[
    str, argument("The pool: one of [pools], or the one of `streamops run --pool`.", completes="pools")
]
Workers = Annotated[int, argument("How many workers it is to have.", metavar="N")]
Span = Annotated[timedelta, option("How long; then the policy decides again.", "--for", example="1h")]


class ScaleIntent(Struct, frozen=True, kw_only=True):
    """Ask whoever runs a pool's workers for another number."""

    pool: Name
    workers: Workers
    current: Annotated[
        int | None, option("Only if it is to have this many now.", metavar="N", example="4")
    ] = None
    because: Annotated[str, inner("Why, where a controller decided it.")] = ""
    token: Annotated[FencingToken | None, inner("Only while this holds, where a controller decided it.")] = (
        None
    )


class PauseScalingIntent(Struct, frozen=True, kw_only=True):
    """Have the controller of a pool change nothing, for the time being."""

    pool: Name
    span: Annotated[
        timedelta | None, option("For how long; until it is resumed unless given.", "--for", example="1h")
    ] = None


class ResumeScalingIntent(Struct, frozen=True, kw_only=True):
    """Have it decide again by the policy: no pause, no override."""

    pool: Name


class OverrideIntent(Struct, frozen=True, kw_only=True):
    """Have it keep a number of workers, whatever the policy says."""

    pool: Name
    workers: Workers
    span: Span = timedelta(hours=1)


class LimitsIntent(Struct, frozen=True, kw_only=True):
    """Have it keep to other limits than the configuration says.

    ``ValueError`` where nothing is given.
    """

    pool: Name
    minimum: Annotated[
        int | None, option("The least workers; as it is unless given.", metavar="N", example="2")
    ] = None
    maximum: Annotated[
        int | None, option("The most workers; as it is unless given.", metavar="N", example="20")
    ] = None
    reset: Annotated[bool, option("What is not given is as the configuration says again.")] = False

    def __post_init__(self) -> None:
        if self.minimum is None and self.maximum is None and not self.reset:
            raise ValueError("give --minimum, --maximum or --reset")


SteeringIntent = PauseScalingIntent | ResumeScalingIntent | OverrideIntent | LimitsIntent
