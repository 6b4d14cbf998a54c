"""``streamops jobs``: long operations, from wherever they run."""

from typing import Annotated, Any, Final

from streamops.cli.acting.choices import take_choices
from streamops.cli.acting.command import ActingCommand
from streamops.cli.acting.flow import act_on
from streamops.cli.options import command
from streamops.cli.reading import note_read_errors
from streamops.cli.session import Session
from streamops.errors import ExitCode
from streamops.model.acting import JobState
from streamops.model.fields import argument, option
from streamops.resources.jobs import JOB_COLUMNS, JOB_DETAIL_COLUMNS, job_json
from streamops.resources.status import read_errors_json

ENDED: Final = frozenset({JobState.DONE, JobState.CANCELLED})

_Job = Annotated[str, argument("", "jobs")]


@command(
    examples=[
        ("streamops jobs ls", "the jobs of the last seven days, on all machines"),
        ("streamops jobs ls --active -o jsonl", "unfinished ones"),
    ],
)
def ls(
    session: Session, *, active: Annotated[bool, option("Only running and resumable jobs.")] = False
) -> None:
    """List long operations: progress, the process that runs them, and the last update.

    A job is kept for seven days after its last update. At most 100 are listed unless --limit is given.
    Records that cannot be read are printed on stderr, and in JSON as gaps.
    """
    printer = session.printer(JOB_COLUMNS, JOB_DETAIL_COLUMNS)

    page = session.run(lambda console: console.read_job_page(session.limit))
    rows = [job for job in page.jobs if not active or job.state not in ENDED]
    document = {"jobs": [job_json(row) for row in rows], "gaps": read_errors_json(page.gaps)}
    printer.print_rows(rows, lambda: {"schema": "streamops.jobs.ls/1", **document}, job_json)
    note_read_errors(session, page.gaps)
    if not (rows or page.gaps):
        session.narrator.note("there are no such jobs" if active else "there are no jobs")


@command(
    examples=[("streamops jobs show 4f1c09ab12cd", "its progress and its owner")],
    exits={1: "no such job"},
)
def show(session: Session, *, job: _Job) -> None:
    """Show a job's progress, the process that runs it or ran it last, and how to resume it."""
    printer = session.printer((*JOB_COLUMNS, *JOB_DETAIL_COLUMNS))

    row = session.run(lambda console: console.read_job(job))
    printer.print_record(row, lambda: {"schema": "streamops.jobs.show/1", **job_json(row)})
    if row.abandoned or row.state in {JobState.INTERRUPTED, JobState.FAILED}:
        session.narrator.resume(session.command_line(f"streamops jobs resume {job}"))


@command(
    ActingCommand,
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
def resume(session: Session, /, *, job: _Job, **values: Any) -> ExitCode:
    """Plan the rest of a job and apply it.

    A job that another process holds can be taken over once its lease of 30 seconds has expired. Nothing is
    done twice.
    """
    choices = take_choices(values)
    return act_on(session, lambda console: console.prepare_rest(job, choices.limits), choices)
