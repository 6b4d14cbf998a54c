"""The first minute of the demo: five things to try, in any order; a line names the next one, until all are done or skipped."""

from typing import Final, NamedTuple

from streamops.tui import routes


class Step(NamedTuple):
    """One thing to try.

    Attributes:
        text: What to press, and what that shows.
        places: Being at one of these is having tried it; None if it is something else.
        stream: They have to be of this stream; any if empty.
    """

    text: str
    places: tuple[type[routes.Route], ...] = ()
    stream: str = ""

    def is_at(self, place: routes.Route) -> bool:
        """Whether this place is where the step leads."""
        return isinstance(place, self.places) and self.stream in ("", getattr(place, "stream", ""))


HELP: Final = Step("the worst group is on top; ? lists its keys, ?? explains it")
CLAIM: Final = Step("on that group C, Enter plans a claim; Enter applies it")
UNDO: Final = Step("7 is the audit log; on a claim z plans its undo")
STEPS: Final = (
    HELP,
    Step("Esc, Enter on payments:events ledger: a consumer is dead", (routes.GroupRoute,), "payments:events"),
    CLAIM,
    UNDO,
    Step("5 5 shows a pool scaled by its load; ? and ^p list more", (routes.PoolsRoute,)),
)


class Guide:
    """Where somebody stands in the first minute."""

    def __init__(self) -> None:
        self._left: tuple[Step, ...] = STEPS

    def line(self, place: routes.Route, *, explained: bool, acted: bool, undoing: bool) -> str:
        """What to try next; empty once all was tried, or it was skipped.

        Args:
            place: Where one is.
            explained: Whether help explains the row.
            acted: Whether something was done in this console.
            undoing: Whether the plan of an undo is shown.
        """
        done = {HELP: explained, CLAIM: acted, UNDO: undoing}
        self._left = tuple(step for step in self._left if not (done.get(step) or step.is_at(place)))
        if not self._left:
            return ""
        step = self._left[0]
        return f" {STEPS.index(step) + 1} of {len(STEPS)}: {step.text} · ^g skips"

    def skip(self) -> None:
        """Say nothing more."""
        self._left = ()
