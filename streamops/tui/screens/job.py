"""One job: how far it is, who runs it, and until when nobody else can."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from streamops.model.acting import Job
from streamops.present.table import Cell, Tone
from streamops.tui import places
from streamops.tui.acting.record_lines import job_help, job_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.screens.job_keys import JobKeys
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.source import Source
from streamops.tui.text_view import Builder, no_lines


class JobScreen(JobKeys, ReadingFrame):
    """A job in full; it is read again with every observation."""

    BINDINGS: ClassVar[list[BindingType]] = [*JobKeys.KEYS]
    HINTS = (("R", "plan the rest"), ("X", "stop it"), ("↑↓", "scroll"), ("y", "copy ID"), ("esc", "back"))

    def __init__(self, place: places.OneJob, moment: Moment) -> None:
        super().__init__(place, moment)
        self._job_place = place
        self._job: Job | None = None

    async def read(self, source: Source) -> Job:
        """The job."""
        return await source.read_job(self._job_place.id)

    def take(self, answer: Job) -> None:
        """Take it."""
        self._job = answer

    def show(self, moment: Moment) -> None:
        """Read again where there is a new observation."""
        newer = moment.observation is not self.moment.observation
        super().show(moment)
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
