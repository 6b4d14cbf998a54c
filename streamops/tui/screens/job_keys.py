"""What can be done with a job: plan the rest of it, and ask it to stop."""

from time import monotonic
from typing import Final

from textual.binding import Binding

from streamops.model.acting import Job, JobState
from streamops.tui.acting.asks import CancelJob, PlanRest
from streamops.tui.acting.messages import ShowPlan
from streamops.tui.asking import Say
from streamops.tui.reads import Answered, Unanswered, Wanted
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
            self.post_message(Wanted(CancelJob(job.id), self))
        else:
            self._asked_for, self._asked_at = job.id, monotonic()
            self.post_message(Say(f"X once more stops job {job.id} for good; what it did stays done"))

    def told_to_stop(self, message: Answered) -> None:
        """Say what will become of it."""
        job = message.read.id if isinstance(message.read, CancelJob) else ""
        self.post_message(Say(f"job {job} is over" if message.answer else f"job {job} stops after its batch"))
        self.reread()

    def not_told_to_stop(self, message: Unanswered) -> None:
        """Say why it could not be stopped."""
        self.post_message(Say(message.error.message, warning=True))
