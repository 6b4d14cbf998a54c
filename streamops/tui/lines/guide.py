"""The first minute of the demo: five things to try, each told on a line until it was done, or skipped."""

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
        while self._left:
            step = self._left[0]
            there = isinstance(place, step.places) and step.stream in ("", getattr(place, "stream", ""))
            done = {HELP: explained, CLAIM: acted, UNDO: undoing}
            if not (there or done.get(step, False)):
                return f" {len(STEPS) - len(self._left) + 1} of {len(STEPS)}: {step.text} · ^g skips"
            self._left = self._left[1:]
        return ""

    def skip(self) -> None:
        """Say nothing more."""
        self._left = ()
