"""Jobs and actions of the audit log in full. Pure."""

from streamops.model.acting import Action, Job
from streamops.resources.audit import action_facts
from streamops.resources.jobs import JOB_COLUMNS, JOB_DETAIL_COLUMNS
from streamops.resources.plans import Fact
from streamops.tui.lines.details import column_lines
from streamops.tui.lines.plan import fact_lines
from streamops.tui.widgets.paint import Line

TOO_LONG = frozenset({"sample", "command"})
ALL_COLUMNS = (*JOB_COLUMNS, *JOB_DETAIL_COLUMNS)


def job_lines(job: Job, width: int) -> list[Line]:
    """Everything there is about a job."""
    return fact_lines((Fact(column.title.lower(), (column.cell(job),)) for column in ALL_COLUMNS), width)


def job_help(job: Job, width: int) -> list[Line]:
    """The same with what each of it means."""
    return column_lines(ALL_COLUMNS, job, width)


def action_lines(action: Action, width: int) -> list[Line]:
    """What the log tells of an action without a further look, in the width of a pane."""
    facts = action_facts(action, (), ())
    return fact_lines((fact for fact in facts if fact.name not in TOO_LONG), width)
