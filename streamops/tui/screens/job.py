"""One job: how far it is, who runs it, and until when nobody else can."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from streamops.model.acting import Job
from streamops.present.table import Cell, Tone
from streamops.tui import places
from streamops.tui.acting.asks import ReadJob
from streamops.tui.acting.record_lines import job_help, job_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.reads import Answered, Unanswered
from streamops.tui.screens.job_keys import JobKeys
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.text_view import Builder, no_lines


class JobScreen(JobKeys, ReadingFrame):
    """A job in full; it is read again with every observation."""

    BINDINGS: ClassVar[list[BindingType]] = [*JobKeys.KEYS]
    HINTS = (("R", "plan the rest"), ("X", "stop it"), ("↑↓", "scroll"), ("y", "copy ID"), ("esc", "back"))

    def __init__(self, place: places.OneJob, moment: Moment) -> None:
        super().__init__(place, moment)
        self._job_place = place
        self._job: Job | None = None

    def wanted(self) -> ReadJob:
        """The job."""
        return ReadJob(self._job_place.id)

    def show(self, moment: Moment) -> None:
        """Read again where there is a new observation."""
        newer = moment.observation is not self.moment.observation
        super().show(moment)
        if newer:
            self.reread()

    def on_answered(self, message: Answered) -> None:
        """Take it, or that it was asked to stop."""
        if isinstance(message.read, ReadJob):
            self._job, self.error = message.answer, ""
            self.tell()
        else:
            self.told_to_stop(message)

    def on_unanswered(self, message: Unanswered) -> None:
        """Say why it could not be stopped; why it could not be read is told as everywhere."""
        if not isinstance(message.read, ReadJob):
            # The job itself could be read.
            message.prevent_default()
            self.not_told_to_stop(message)

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
