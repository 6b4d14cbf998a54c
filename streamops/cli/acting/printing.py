"""Plans and outcomes in the format that was asked for.

An outcome is data. So is a plan where it is all that was asked for. Before an outcome, people see the plan where
they look, and programs get the outcome alone.
"""

import os
import sys
from collections.abc import Iterable
from datetime import timedelta
from typing import Final, TextIO

from streamops.cli.acting.choices import Choices
from streamops.cli.globals import Output
from streamops.cli.printer import FOR_PEOPLE, Printer, print_facts, write
from streamops.cli.session import Session
from streamops.cli.terminal import whoever_reads, width_of
from streamops.model.acting import Outcome, Plan, Progress
from streamops.resources.plans import (
    OUTCOME_COLUMNS,
    PLAN_COLUMNS,
    outcome_document,
    outcome_facts,
    plan_document,
    plan_facts,
    progress_line,
    undo_command,
)
from streamops.resources.table import Fact


class ActingPrinter:
    """Prints a plan and its outcome. Made before the server is asked, so that a wrong ``--fields`` costs nothing.

    A reader that goes away stops nothing: what was agreed to is done, and the exit code tells what became of it.
    """

    def __init__(self, session: Session, choices: Choices) -> None:
        self._session = session
        self._in_words = session.given.output in FOR_PEOPLE and not session.given.fields
        self._plans: Printer[Plan] | None = session.printer(PLAN_COLUMNS) if choices.dry_run else None
        self._outcomes = None if choices.dry_run else session.printer(OUTCOME_COLUMNS)
        self._begun = False

    def print_plan(self, plan: Plan) -> None:
        """Print a plan as data."""
        if self._in_words or self._plans is None:
            self._print_facts(plan_facts(plan), sys.stdout)
            return
        with whoever_reads(sys.stdout):
            self._plans.print_record(plan, lambda: plan_document(plan))

    def show_plan(self, plan: Plan, *, asking: bool) -> None:
        """Show a plan before it is applied, where whoever is asked sees it."""
        if self._session.given.quiet and not asking:
            return
        on_stdout = self._in_words and (sys.stdout.isatty() or not asking)
        self._print_facts(plan_facts(plan), sys.stdout if on_stdout else sys.stderr)

    def print_outcome(self, plan: Plan, outcome: Outcome) -> None:
        """Print an outcome as data."""
        undo = self._session.command_line(undo_command(plan, outcome))
        if self._in_words or self._outcomes is None:
            with whoever_reads(sys.stdout):
                write("\n" if self._begun else "")
            self._print_facts(outcome_facts(outcome, undo), sys.stdout)
            return
        with whoever_reads(sys.stdout):
            self._outcomes.print_record(outcome, lambda: outcome_document(outcome, undo))

    def _print_facts(self, facts: Iterable[Fact], file: TextIO) -> None:
        self._begun = self._begun or file is sys.stdout
        output = Output.PLAIN if self._session.given.output is Output.PLAIN else Output.TABLE
        with whoever_reads(file):
            print_facts(facts, file, output=output, color=self._session.allows_color)


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
