"""What can be done with a job: plan the rest of it, and ask it to stop."""

from functools import partial
from time import monotonic
from typing import Final

from textual.binding import Binding

from streamops.errors import StreamopsError
from streamops.model.acting import Job, JobState
from streamops.tui.acting.asks import PlanRest
from streamops.tui.acting.messages import ShowPlan
from streamops.tui.asking import Say
from streamops.tui.screens.frame import Frame

SURE_WITHIN: Final = 4.0
"""Seconds in which the key has to be pressed again."""


class JobKeys(Frame):
    """Keys of the screens of jobs. A capital opens the plan of the rest; stopping asks for its key twice."""

    KEYS: Final = (
        Binding("R", "resume", "plan the rest", show=False, id="resume"),
        Binding("X", "stop", "stop it", show=False, id="stop"),
    )
    _asked_for = ""
    _asked_at = 0.0

    def job(self) -> Job | None:
        """The job that the keys are about; none where there is none."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Neither is a key where nothing may be changed."""
        if action in {"resume", "stop"}:
            return not self.moment.read_only
        return super().check_action(action, parameters)

    def hints(self) -> tuple[tuple[str, str], ...]:
        """Without what may not be done."""
        if self.moment.read_only:
            return tuple(pair for pair in self.HINTS if pair[0] not in {"R", "X"})
        return self.HINTS

    def action_resume(self) -> None:
        """Plan the rest of it."""
        if (job := self.job()) is not None:
            self.post_message(ShowPlan(f"{job.operation} (job {job.id})", PlanRest(job.id)))

    def action_stop(self) -> None:
        """Ask it to stop, once the key was pressed twice: a cancelled job is not resumed."""
        job = self.job()
        if job is None:
            return
        if job.state in {JobState.DONE, JobState.CANCELLED}:
            self.post_message(Say(f"job {job.id} is over"))
        elif self._asked_for == job.id and monotonic() - self._asked_at < SURE_WITHIN:
            self._asked_for = ""
            self.fetch(
                lambda source: source.cancel_job(job.id),
                partial(self._asked_to_stop, job.id),
                self._not_asked_to_stop,
            )
        else:
            self._asked_for, self._asked_at = job.id, monotonic()
            self.post_message(Say(f"X once more stops job {job.id} for good; what it did stays done"))

    def _asked_to_stop(self, job: str, over: bool) -> None:  # noqa: FBT001 - an answer
        self.post_message(Say(f"job {job} is over" if over else f"job {job} stops after its batch"))
        self.reread()

    def _not_asked_to_stop(self, error: StreamopsError) -> None:
        self.post_message(Say(error.message, warning=True))
