"""Pools of workers as what is acted on: paused and resumed."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument

Pool = Annotated[
    str, argument("The pool: the name of `streamops run --pool`, or default.", completes="pools")
]


class PauseIntent(OperationIntent, frozen=True, kw_only=True):
    """Pause a pool: its workers read nothing more.

    Pause the workers of a pool: they read nothing more until they are resumed. They stay alive, finish and
    acknowledge what is in flight, and notice within a heartbeat; workers that start later are paused too.
    `autoscale pause` pauses the controller instead.
    """

    operation: ClassVar = "pause"
    impact: ClassVar = Impact.REVERSIBLE
    examples: ClassVar = (
        ("streamops pools pause billing --reason 'the bank is down'", "its workers read nothing"),
        ("streamops pools pause billing --dry-run", "what it would do, and the pool's mode now"),
    )
    exits: ClassVar = {1: "no such pool"}

    pool: Pool


class ResumeIntent(OperationIntent, frozen=True, kw_only=True):
    """Resume a paused pool's workers.

    Resume a paused pool: its workers read on from their groups' positions.
    """

    operation: ClassVar = "resume"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (
        ("streamops pools resume billing", "its workers read on from their groups' positions"),
    )
    exits: ClassVar = {1: "no such pool", 4: "refused: read-only, or not permitted"}

    pool: Pool
