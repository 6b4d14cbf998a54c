"""How far an operation is, on stderr: one line that renews itself on a terminal, else a line now and then."""

import os
import sys
from datetime import timedelta
from typing import Final

from streamops.cli.session import Session
from streamops.cli.terminal import width_of
from streamops.model.acting import Progress
from streamops.resources.plans import progress_line

BAR: Final = 24
MARGIN: Final = 60
"""Cells that everything beside the bar may need."""
RENEWED: Final = timedelta(milliseconds=100)
LINES_APART: Final = timedelta(seconds=10)
WATCHED: Final = 1_000
"""A job of so many units is worth watching from elsewhere; a shorter one is over by then."""


class ProgressPrinter:
    """Tells of each batch, as often as suits stderr."""

    def __init__(self, session: Session, total: int = 0) -> None:
        self._session = session
        self._narrator = session.narrator
        plain = session.given.no_color or bool(os.environ.get("NO_COLOR"))
        self._moves = sys.stderr.isatty() and not plain
        self._next = timedelta(0) if self._moves else LINES_APART
        self._width = max(0, min(BAR, (width_of(sys.stderr) or 0) - MARGIN))
        self._last: Progress | None = None
        self._total = total
        self._job = ""

    def started(self, job: str) -> None:
        """Remember the job, to name it where it is cut off; a long one is named at once."""
        self._job = job
        if self._total >= WATCHED:
            show = self._session.command_line(f"streamops jobs show {job}")
            self._narrator.note(f"job {job}: `{show}` watches it from elsewhere")

    def __call__(self, progress: Progress) -> None:
        """Tell how far it is, where that is due."""
        self._last = progress
        if progress.elapsed < self._next:
            return
        self._next = progress.elapsed + (RENEWED if self._moves else LINES_APART)
        if self._moves:
            self._narrator.progress(progress_line(progress, self._width))
        else:
            self._narrator.note(progress_line(progress))

    def end(self) -> None:
        """Take the line away."""
        self._narrator.end_progress()

    def note_unended(self) -> None:
        """Say how far it was when it was cut off, and how to go on."""
        self.end()
        if self._last is not None:
            self._narrator.note(f"cut off after {self._last.done:,} of {self._last.total:,}")
        if self._job:
            self._narrator.resume(self._session.command_line(f"streamops jobs resume {self._job}"))
