"""The first minute of the demo: five things to try, each told on a line until it was done, or skipped."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from streamops.tui import routes

if TYPE_CHECKING:
    from streamops.tui.app import StreamopsApp


class Step(NamedTuple):
    """One thing to try.

    Attributes:
        text: What to press, and what that shows.
        done: Whether it was tried.
    """

    text: str
    done: "Callable[[StreamopsApp], bool]"


def _at(*places: type[routes.Route]) -> "Callable[[StreamopsApp], bool]":
    return lambda app: isinstance(app.frame.place, places)


STEPS: Final = (
    Step("the worst group is on top; ? lists its keys, ?? explains it", lambda app: app.is_helping),
    Step("Esc, Enter on payments:events ledger: a consumer is dead", _at(routes.GroupRoute)),
    Step(
        "C, then Enter, plans to claim its entries; Enter claims them", lambda app: bool(app.app_state.deeds)
    ),
    Step("@ is the audit log; on a claim z plans its undo", _at(routes.AuditRoute, routes.ActionRoute)),
    Step("5 5 shows a pool follow its load; ? and ^p tell the rest", _at(routes.PoolsRoute)),
)


class Guide:
    """Where somebody stands in the first minute."""

    def __init__(self) -> None:
        self._step = 0

    def line(self, app: "StreamopsApp") -> str:
        """What to try next; empty once all was tried, or it was skipped."""
        while self._step < len(STEPS) and STEPS[self._step].done(app):
            self._step += 1
        if self._step >= len(STEPS):
            return ""
        return f" {self._step + 1} of {len(STEPS)}: {STEPS[self._step].text} · ^g skips"

    def skip(self) -> None:
        """Say nothing more."""
        self._step = len(STEPS)
