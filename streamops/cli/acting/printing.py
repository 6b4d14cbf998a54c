"""Plans and outcomes in the format that was asked for.

An outcome is data. So is a plan where it is all that was asked for. Before an outcome, people see the plan where
they look, and programs get the outcome alone.
"""

import sys
from collections.abc import Iterable
from typing import TextIO

from streamops.cli.acting.choices import Choices
from streamops.cli.globals import Output
from streamops.cli.output.choosing import FOR_PEOPLE
from streamops.cli.output.facts import print_facts
from streamops.cli.output.printer import Printer, write
from streamops.cli.pipes import whoever_reads
from streamops.cli.session import Session
from streamops.model.acting import Outcome, Plan
from streamops.resources.plans import (
    OUTCOME_COLUMNS,
    PLAN_COLUMNS,
    Fact,
    outcome_document,
    outcome_facts,
    plan_document,
    plan_facts,
    undo_command,
)


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
