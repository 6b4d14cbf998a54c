"""``streamops doctor``: the self-check."""

from collections.abc import Sequence
from typing import Annotated

from streamops.cli.formats import document_text
from streamops.cli.globals import Output
from streamops.cli.options import command
from streamops.cli.printer import DOCUMENTS, write
from streamops.cli.session import Session, wait_for
from streamops.errors import ExitCode
from streamops.model.fields import option
from streamops.model.json_text import Json
from streamops.model.name_patterns import is_literal
from streamops.model.observation import Health
from streamops.monitor.doctor import Examination, examine
from streamops.resources.acl import AclRole, acl_rules, acl_text
from streamops.resources.kinds import of_rows
from streamops.resources.table import Column
from streamops.resources.text import safe

EXAMINATION = of_rows(Examination)

EXAMINATION_COLUMNS: tuple[Column[Examination], ...] = (
    EXAMINATION.health("health", "STATE", 9, lambda row: row.health, priority=0).means("Its state."),
    EXAMINATION.text("topic", "CHECK", 30, lambda row: row.topic, priority=0).means("What was checked."),
    EXAMINATION.text("text", "FOUND", 60, lambda row: row.text, flexible=True, priority=0).means(
        "What was found."
    ),
    EXAMINATION.text("advice", "FIX", 40, lambda row: row.advice or None, flexible=True, priority=0).means(
        "The fix."
    ),
)


@command(
    examples=[
        ("streamops doctor", "everything about the server in use"),
        ("streamops doctor --acl observer", "the ACL rules that a read-only console needs"),
        ("streamops doctor --worker -c shop-workers", "whether the workers' user may do too much"),
    ],
    exits={1: "something essential is wrong"},
)
def doctor(
    session: Session,
    *,
    role: Annotated[AclRole | None, option("Print the ACL rules of a role instead.", "acl")] = None,
    worker: Annotated[
        bool, option("Check that this user has no more permissions than a worker needs.")
    ] = False,
) -> int:
    """Check the connection, the server's version and whether its lag can be trusted, permissions, memory policy, parser.

    With --worker, also check whether the user may write keys for operators only: the audit log, topics, jobs,
    pool settings. The checks change nothing.
    """
    if role is not None:
        _print_rules(session, role)
        return ExitCode.DONE
    printer = session.printer(EXAMINATION_COLUMNS)
    settings = session.settings
    stream = next((pattern for pattern in settings.watch.streams if is_literal(pattern)), None)
    rows = wait_for(examine(settings.connection, stream, works=worker))
    printer.print_rows(rows, lambda: _document(rows))
    return ExitCode.FAILED if any(row.health is Health.CRITICAL for row in rows) else ExitCode.DONE


def _document(rows: Sequence[Examination]) -> Json:
    return {
        "schema": "streamops.doctor/1",
        "checks": [
            {
                "check": row.topic,
                "state": row.health.word,
                "text": safe(row.text),
                "advice": safe(row.advice) or None,
            }
            for row in rows
        ],
    }


def _print_rules(session: Session, role: AclRole) -> None:
    rules = acl_rules(role)
    if session.given.output in {*DOCUMENTS, Output.JSONL}:
        document: Json = {
            "schema": "streamops.doctor.acl/1",
            "role": rules.role,
            "purpose": rules.purpose,
            "rules": rules.rules.split(),
            "rules_6_2": rules.rules_6_2.split(),
        }
        write(document_text(document, session.given.output))
    else:
        write(acl_text(rules) + "\n")
