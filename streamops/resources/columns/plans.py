"""Plans and outcomes on one line: what ``-o csv`` and ``--fields`` of acting commands show."""

from typing import Final

from streamops.model.acting import Outcome, Plan
from streamops.resources.cells import NAME_WIDTH
from streamops.resources.columns.kinds import of_rows
from streamops.resources.table import Align, Cell, Column

PLAN = of_rows(Plan)
OUTCOME = of_rows(Outcome)

PLAN_COLUMNS: Final[tuple[Column[Plan], ...]] = (
    PLAN.text("operation", "OPERATION", 16, lambda plan: plan.operation).means("What is done."),
    PLAN.text("target", "TARGET", NAME_WIDTH, lambda plan: plan.target).means("What it acts on."),
    PLAN.column(
        "tier",
        "DANGER",
        6,
        lambda plan: int(plan.impact),
        lambda plan: Cell(str(int(plan.impact))),
        align=Align.RIGHT,
    ).means(
        "Impact: 1 low (can be undone), 2 medium (delivers again, skips or drops), 3 high (loses state for good)."
    ),
    PLAN.count("count", "COUNT", 9, lambda plan: plan.count, descending=False).means(
        "How many entries, groups or consumers it acts on."
    ),
    PLAN.text("held_back_by", "HELD BACK BY", NAME_WIDTH, lambda plan: plan.held_back_by or None).means(
        "What keeps it from doing all of it."
    ),
    PLAN.text("loses", "LOSES", NAME_WIDTH, lambda plan: plan.loses or None).means("What is lost for good."),
    PLAN.flag("reversible", "REVERSIBLE", 10, lambda plan: plan.reversible).means(
        "Whether `streamops undo` can take it back."
    ),
    PLAN.text("command", "COMMAND", 40, lambda plan: plan.command).means("The equivalent command line."),
    PLAN.text("fingerprint", "FINGERPRINT", 12, lambda plan: plan.fingerprint).means(
        "A digest of what the server said: two plans with the same one do the same."
    ),
)

OUTCOME_COLUMNS: Final[tuple[Column[Outcome], ...]] = (
    OUTCOME.text("operation", "OPERATION", 16, lambda outcome: outcome.operation).means("What was done."),
    OUTCOME.text("target", "TARGET", NAME_WIDTH, lambda outcome: outcome.target).means(
        "What it was done to."
    ),
    OUTCOME.count("requested", "REQUESTED", 9, lambda outcome: outcome.requested, descending=False).means(
        "How many the plan counted."
    ),
    OUTCOME.count("applied", "APPLIED", 9, lambda outcome: outcome.applied, descending=False).means(
        "How many it was done to."
    ),
    OUTCOME.count("skipped", "SKIPPED", 9, lambda outcome: outcome.skipped_count, descending=False).means(
        "How many had changed meanwhile and were skipped."
    ),
    OUTCOME.count("failed", "FAILED", 9, lambda outcome: outcome.failed_count, descending=False).means(
        "How many could not be done."
    ),
    OUTCOME.flag("complete", "COMPLETE", 8, lambda outcome: outcome.complete).means("Whether it finished."),
    OUTCOME.text("job", "JOB", 12, lambda outcome: outcome.job or None).means(
        "The job's ID, the token to resume it with."
    ),
    OUTCOME.text("audit_id", "AUDIT ID", 18, lambda outcome: outcome.audit_id or None).means(
        "The action's ID in the audit log."
    ),
    OUTCOME.age("elapsed_seconds", "TOOK", 7, lambda outcome: outcome.elapsed, descending=False).means(
        "How long it took."
    ),
)
