"""``streamops jobs``: long operations, from wherever they run."""

from typing import Any, Final

import click

from streamops.cli.acting.choices import take_choices
from streamops.cli.acting.command import ActingCommand
from streamops.cli.acting.flow import act_on
from streamops.cli.command import Command
from streamops.cli.params import COMPLETIONS
from streamops.cli.reading import note_read_errors
from streamops.cli.session import Session, with_session
from streamops.errors import ExitCode
from streamops.model.acting import JobState
from streamops.resources.jobs import JOB_COLUMNS, JOB_DETAIL_COLUMNS, job_json
from streamops.resources.status import read_errors_json

DEFAULT_LIMIT: Final = 100
ENDED: Final = frozenset({JobState.DONE, JobState.CANCELLED})

job_argument = click.argument("job", metavar="JOB", shell_complete=COMPLETIONS["jobs"])


@click.command(
    cls=Command,
    short_help="List long operations, newest first.",
    examples=[
        ("streamops jobs ls", "the jobs of the last seven days, on all machines"),
        ("streamops jobs ls --active -o jsonl", "those that have not come to their end"),
    ],
)
@click.option("--active", is_flag=True, help="Only running and resumable jobs.")
@with_session
def ls(session: Session, *, active: bool) -> None:
    """List long operations: how far they are, who runs them, and when they were last heard of.

    A job is kept for seven days after its last sign of life. At most 100 are listed unless --limit says
    otherwise. What stands in the list and cannot be read as a job is printed on stderr, and in JSON as gaps.
    """
    printer = session.printer(JOB_COLUMNS, JOB_DETAIL_COLUMNS)

    page = session.run(lambda console: console.read_job_page(session.given.limit or DEFAULT_LIMIT))
    rows = [job for job in page.jobs if not active or job.state not in ENDED]
    document = {"jobs": [job_json(row) for row in rows], "gaps": read_errors_json(page.gaps)}
    printer.print_rows(rows, lambda: {"schema": "streamops.jobs.ls/1", **document}, job_json)
    note_read_errors(session, page.gaps)
    if not (rows or page.gaps):
        session.narrator.note("there are no such jobs" if active else "there are no jobs")


@click.command(
    cls=Command,
    short_help="Show one job.",
    examples=[("streamops jobs show 4f1c09ab12cd", "how far it is, and who runs it")],
    exits={1: "no such job"},
)
@job_argument
@with_session
def show(session: Session, *, job: str) -> None:
    """Show how far a job is, who runs it or ran it last, and how to go on with it."""
    printer = session.printer((*JOB_COLUMNS, *JOB_DETAIL_COLUMNS))

    row = session.run(lambda console: console.read_job(job))
    printer.print_record(row, lambda: {"schema": "streamops.jobs.show/1", **job_json(row)})
    if row.abandoned or row.state in {JobState.INTERRUPTED, JobState.FAILED}:
        session.narrator.resume(session.command_line(f"streamops jobs resume {job}"))


@click.command(
    cls=ActingCommand,
    short_help="Resume an interrupted job.",
    rated=True,
    examples=[
        ("streamops jobs resume 4f1c09ab12cd --dry-run", "what is left to do"),
        ("streamops jobs resume 4f1c09ab12cd --yes", "do it"),
    ],
    exits={
        1: "failed; no such job",
        4: "refused: held by another process, over, not confirmed, not permitted",
    },
)
@job_argument
@with_session
def resume(session: Session, /, *, job: str, **values: Any) -> ExitCode:
    """Plan what is left of a job and do it, from where it stopped.

    A job that another process holds can be taken over once its lease of 30 seconds has run out: when its owner
    is gone. What was done is left alone; nothing is done twice.
    """
    choices = take_choices(values)
    return act_on(session, lambda console: console.prepare_rest(job, choices.limits), choices)
