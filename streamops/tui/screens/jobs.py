"""Long work on the server: under way anywhere, interrupted, and over. It is read again with every observation."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace
from textual.binding import BindingType

from streamops.errors import StreamopsError
from streamops.model.acting import Job, JobPage, JobState
from streamops.model.snapshot import Gap
from streamops.present.columns.jobs import JOB_COLUMNS
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.tui import places, words
from streamops.tui.acting.record_lines import job_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import Line
from streamops.tui.places import Place
from streamops.tui.screens.job_keys import JobKeys
from streamops.tui.screens.listing import Listing
from streamops.tui.text_view import Builder

# Who runs it is worth more than the whole of the name.
OWNER_WIDTH = 12
COLUMNS = tuple(
    replace(column, width=OWNER_WIDTH) if column.key == "owner" else column for column in JOB_COLUMNS
)


class JobsScreen(JobKeys, Listing[Job]):
    """The newest jobs."""

    BINDINGS: ClassVar[list[BindingType]] = [*JobKeys.KEYS]
    HINTS = (
        ("enter", "all of it"),
        ("R", "plan the rest"),
        ("X", "stop it"),
        ("/", "filter"),
        ("esc", "back"),
    )

    def __init__(self, place: places.Jobs, moment: Moment) -> None:
        super().__init__(place, moment, COLUMNS)
        self._jobs: tuple[Job, ...] = ()
        self._gaps: tuple[Gap, ...] = ()
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

    def show(self, moment: Moment) -> None:
        """Read again where there is a new observation: the screen keeps its pace."""
        newer = moment.observation is not self.moment.observation
        super().show(moment)
        if newer:
            self.reread()

    def _take(self, page: JobPage) -> None:
        self._asked, self._read, self._error = False, True, ""
        self._jobs, self._gaps = page.jobs, page.gaps
        self.show_body(self.moment)

    def unread(self, error: StreamopsError) -> None:
        """Say why they could not be read."""
        self._asked, self._error = False, safe(error.message)
        self.show_body(self.moment)

    def job(self) -> Job | None:
        """The one under the cursor."""
        return self.list.highlighted

    def rows_of(self, moment: Moment) -> Sequence[Job]:
        """What was read last."""
        del moment
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

    def place_of(self, row: Job) -> Place:
        """All of it."""
        return places.OneJob(row.id)

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
        return "no long work in the last 7 days" if self._read else "reading"

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
