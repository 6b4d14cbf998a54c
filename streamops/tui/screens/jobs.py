"""Long work: all jobs, and one."""

from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Final

from streamops.errors import StreamopsError
from streamops.model.acting import Job, JobState
from streamops.resources.jobs import JOBS
from streamops.resources.table import Fact
from streamops.tui import routes
from streamops.tui.keys import Hint, hint_names
from streamops.tui.lines.details import column_lines, fact_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.read_listing import Page, ReadingFrame, ReadList, ReadListing
from streamops.tui.source import PlanRest, Source
from streamops.tui.widgets.paint import Line
from streamops.tui.widgets.text_view import Builder, no_lines

SURE_WITHIN: Final = 4.0
"""Seconds in which the key has to be pressed again."""


ALL_COLUMNS: Final = (*JOBS.columns, *JOBS.more)


def job_lines(job: Job, width: int) -> list[Line]:
    """Everything there is about a job."""
    return fact_lines((Fact(column.title.lower(), (column.cell(job),)) for column in ALL_COLUMNS), width)


def job_help(job: Job, width: int) -> list[Line]:
    """The same with what each of it means."""
    return column_lines(ALL_COLUMNS, job, width)


OVER: Final = frozenset({JobState.DONE, JobState.CANCELLED})


class JobKeys(Frame):
    """Keys of the screens of jobs. A capital opens the plan of the rest; stopping asks for its key twice."""

    _stop_asked_for = ""
    _stop_asked_at = 0.0

    def job(self) -> Job | None:
        """The job that the keys are about; None if there is none."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Neither is a key where nothing may be changed."""
        if action in {"resume", "stop"}:
            return not self.app_state.read_only
        return super().check_action(action, parameters)

    def hints(self) -> tuple[Hint, ...]:
        """The keys, without those that would do nothing."""
        hints, job = super().hints(), self.job()
        is_over = job is not None and job.state in OVER
        idle = {"resume", "stop"} if self.app_state.read_only or is_over else set()
        return tuple(hint for hint in hints if hint_names(hint)[0] not in idle)

    def action_resume(self) -> None:
        """Plan the rest of it."""
        if (job := self.job()) is not None:
            self.console.open_plan(f"{job.operation} (job {job.id})", PlanRest(job.id))

    def action_stop(self) -> None:
        """Ask it to stop, once the key was pressed twice: a cancelled job is not resumed."""
        job = self.job()
        if job is None:
            return
        if job.state in OVER:
            self.console.say(f"job {job.id} is over")
        elif self._stop_asked_for == job.id and monotonic() - self._stop_asked_at < SURE_WITHIN:
            self._stop_asked_for = ""
            self.fetch(
                lambda source: source.cancel_job(job.id),
                partial(self._asked_to_stop, job.id),
                self._not_asked_to_stop,
            )
        else:
            self._stop_asked_for, self._stop_asked_at = job.id, monotonic()
            self.console.say(f"X once more stops job {job.id} for good; what it did stays done")

    def _asked_to_stop(self, job: str, over: bool) -> None:  # noqa: FBT001 - an answer
        self.console.say(f"job {job} is over" if over else f"job {job} stops after its batch")
        self.reread()

    def _not_asked_to_stop(self, error: StreamopsError) -> None:
        self.console.say(error.message, warning=True)


class JobsScreen(JobKeys, ReadListing[Job]):
    """The newest jobs, read again with every observation."""

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state, JOB_LIST)

    def job(self) -> Job | None:
        """The one under the cursor."""
        return self.list.highlighted


async def _read(_screen: ReadListing[Job], source: Source) -> Page[Job]:
    page = await source.read_job_page()
    return Page(rows=page.jobs, gaps=page.gaps, nothing="no jobs in the last 7 days")


JOB_LIST: Final = ReadList(
    resource=JOBS,
    hints=(("open", "details"), "resume", "stop", "filter", "back"),
    read=_read,
    every=0.0,
    leads=lambda job: routes.JobRoute(job.id),
    detail=job_lines,
)


class JobScreen(JobKeys, ReadingFrame[Job]):
    """A job in full; it is read again with every observation."""

    HINTS = ("resume", "stop", ("up down", "scroll"), ("copy_id", "copy ID"), "back")

    follows = True

    async def read(self, source: Source) -> Job:
        """The job."""
        return await source.read_job(self.copyable())

    def job(self) -> Job | None:
        """It itself."""
        return self.thing

    def lines(self, thing: Job, width: int) -> Sequence[Line]:
        """Every number of it."""
        return job_lines(thing, width)

    def explain(self) -> Builder:
        """What each of them means."""
        job = self.thing
        return no_lines if job is None else lambda width: job_help(job, width)
