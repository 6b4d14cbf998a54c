"""Long work: all jobs, and one."""

from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import ClassVar, Final

from msgspec.structs import replace
from textual.binding import BindingType

from streamops.errors import StreamopsError
from streamops.model.acting import Job, JobPage, JobState
from streamops.model.streams import ReadError
from streamops.resources.jobs import JOB_COLUMNS
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.acting.asks import PlanRest
from streamops.tui.keys import Hint, bindings
from streamops.tui.lines import words
from streamops.tui.lines.record import job_help, job_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.listing import ListScreen
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import Builder, no_lines

SURE_WITHIN: Final = 4.0
"""Seconds in which the key has to be pressed again."""


class JobKeys(Frame):
    """Keys of the screens of jobs. A capital opens the plan of the rest; stopping asks for its key twice."""

    _asked_for = ""
    _asked_at = 0.0

    def job(self) -> Job | None:
        """The job that the keys are about; none where there is none."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Neither is a key where nothing may be changed."""
        if action in {"resume", "stop"}:
            return not self.app_state.read_only
        return super().check_action(action, parameters)

    def hints(self) -> tuple[Hint, ...]:
        """Without what may not be done."""
        if self.app_state.read_only:
            return tuple(pair for pair in self.HINTS if pair not in {"resume", "stop"})
        return self.HINTS

    def action_resume(self) -> None:
        """Plan the rest of it."""
        if (job := self.job()) is not None:
            self.console.open_plan(f"{job.operation} (job {job.id})", PlanRest(job.id))

    def action_stop(self) -> None:
        """Ask it to stop, once the key was pressed twice: a cancelled job is not resumed."""
        job = self.job()
        if job is None:
            return
        if job.state in {JobState.DONE, JobState.CANCELLED}:
            self.console.say(f"job {job.id} is over")
        elif self._asked_for == job.id and monotonic() - self._asked_at < SURE_WITHIN:
            self._asked_for = ""
            self.fetch(
                lambda source: source.cancel_job(job.id),
                partial(self._asked_to_stop, job.id),
                self._not_asked_to_stop,
            )
        else:
            self._asked_for, self._asked_at = job.id, monotonic()
            self.console.say(f"X once more stops job {job.id} for good; what it did stays done")

    def _asked_to_stop(self, job: str, over: bool) -> None:  # noqa: FBT001 - an answer
        self.console.say(f"job {job} is over" if over else f"job {job} stops after its batch")
        self.reread()

    def _not_asked_to_stop(self, error: StreamopsError) -> None:
        self.console.say(error.message, warning=True)


# Who runs it is worth more than the whole of the name.
OWNER_WIDTH = 12
COLUMNS = tuple(
    replace(column, width=OWNER_WIDTH) if column.key == "owner" else column for column in JOB_COLUMNS
)


class JobsScreen(JobKeys, ListScreen[Job]):
    """The newest jobs."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("resume", "stop")
    HINTS = (
        ("open", "details"),
        "resume",
        "stop",
        "filter",
        "back",
    )

    def __init__(self, place: routes.JobsRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, COLUMNS)
        self._jobs: tuple[Job, ...] = ()
        self._gaps: tuple[ReadError, ...] = ()
        self._read = False
        self._asked = False
        self._error = ""

    def on_mount(self) -> None:
        """Read them."""
        self.reread()

    def reread(self) -> None:
        """Read them again, unless that is under way."""
        if not self._asked:
            self._asked = True
            self.fetch(lambda source: source.read_job_page(), self._take)

    def show(self, app_state: AppState) -> None:
        """Read again where there is a new observation: the screen keeps its pace."""
        newer = app_state.observation is not self.app_state.observation
        super().show(app_state)
        if newer:
            self.reread()

    def _take(self, page: JobPage) -> None:
        self._asked, self._read, self._error = False, True, ""
        self._jobs, self._gaps = page.jobs, page.gaps
        self.show_body(self.app_state)

    def unread(self, error: StreamopsError) -> None:
        """Say why they could not be read."""
        self._asked, self._error = False, safe(error.message)
        self.show_body(self.app_state)

    def job(self) -> Job | None:
        """The one under the cursor."""
        return self.list.highlighted

    def rows_of(self, app_state: AppState) -> Sequence[Job]:
        """What was read last."""
        del app_state
        return self._jobs

    def identify(self, row: Job) -> str:
        """The job's ID."""
        return row.id

    def text_of(self, row: Job) -> str:
        """Everything one may look for."""
        return f"{row.id} {row.operation} {row.target} {row.owner} {row.state}"

    def is_fault(self, row: Job) -> bool:
        """Whether it did not come to its end."""
        return row.state in {JobState.INTERRUPTED, JobState.FAILED}

    def place_of(self, row: Job) -> Route:
        """All of it."""
        return routes.JobRoute(row.id)

    def detail(self, row: Job) -> Builder:
        """All of it."""
        return lambda width: job_lines(row, width)

    def name_of(self, row: Job) -> str:
        """The job's ID."""
        return row.id

    def empty_note(self) -> str:
        """Why nothing is listed."""
        if self._error:
            return self._error
        if self._gaps:
            return self._unreadable()
        return "no jobs in the last 7 days" if self._read else "reading"

    def _unreadable(self) -> str:
        """Which jobs cannot be read: the first one's key and why, and how many more."""
        first, *others = self._gaps
        more = f", and {len(others):,} more" if others else ""
        return safe(f"not read: {first.scope}: {first.reason}{more}")

    def _failed(self) -> Cell:
        """What could not be read, beside a list of what could."""
        if self._jobs and self._error:
            return Cell(f"{self._error}  ", Tone.CRITICAL)
        if self._jobs and self._gaps:
            return Cell(f"{self._unreadable()}  ", Tone.WARN)
        return Cell("")

    def position_words(self) -> Line:
        """The cursor."""
        return (self._failed(), *words.position(self.list.cursor, len(self.list.rows)))


class JobScreen(JobKeys, ReadingFrame):
    """A job in full; it is read again with every observation."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("resume", "stop")
    HINTS = ("resume", "stop", ("up down", "scroll"), ("copy_id", "copy ID"), "back")

    def __init__(self, place: routes.JobRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._job_place = place
        self._job: Job | None = None

    async def read(self, source: Source) -> Job:
        """The job."""
        return await source.read_job(self._job_place.id)

    def take(self, answer: Job) -> None:
        """Take it."""
        self._job = answer

    def show(self, app_state: AppState) -> None:
        """Read again where there is a new observation."""
        newer = app_state.observation is not self.app_state.observation
        super().show(app_state)
        if newer:
            self.reread()

    def job(self) -> Job | None:
        """It itself."""
        return self._job

    def lines(self, width: int) -> Sequence[Line]:
        """Every number of it."""
        if self._job is None:
            return () if self.error else [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        return job_lines(self._job, width)

    def explain(self) -> Builder:
        """What each of them means."""
        job = self._job
        return no_lines if job is None else lambda width: job_help(job, width)

    def copyable(self) -> str:
        """The job's ID."""
        return self._job_place.id
