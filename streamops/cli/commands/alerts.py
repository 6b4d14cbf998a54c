"""``streamops alerts ls``: what the health rules find."""

from msgspec.structs import replace

from streamops.cli.options import command
from streamops.cli.params import Patterns
from streamops.cli.reading import note_reading, observe_streams
from streamops.cli.session import Session
from streamops.errors import ExitCode
from streamops.model.json_text import Json, text_json
from streamops.monitor.observe import fold_retries
from streamops.resources.findings import FINDING_COLUMNS, FindingRow, anchor, finding_rows
from streamops.resources.status import read_errors_json, snapshot_header
from streamops.resources.text import safe


@command(
    examples=[
        ("streamops alerts ls", "all findings, the worst first"),
        ("streamops alerts ls 'orders:*' -o jsonl", "of these streams, one JSON object a line"),
    ],
    exits={1: "a stream that PATTERN names does not exist"},
)
def ls(session: Session, *, patterns: Patterns = ()) -> ExitCode:
    """List findings of the health rules about the server, streams and groups, the worst first.

    PATTERN is a stream's name or a glob; without any, the context's streams are looked at, or all of them.
    Streams are read once: findings that need several readings, such as a growing lag, are in the console and
    the exporter.
    """
    printer = session.printer(FINDING_COLUMNS)
    survey = observe_streams(session, patterns, queues=True)
    observation = survey.observation
    rows = finding_rows(replace(observation, streams=tuple(fold_retries(observation.streams))))
    printer.print_list(
        "alerts.ls",
        "alerts",
        rows,
        alert_json,
        before=snapshot_header(observation),
        after={"gaps": read_errors_json(observation.snapshot.gaps)},
    )
    if observation.streams and not rows:
        session.narrator.note("no findings: no health rule reports a problem")
    return note_reading(session, observation, patterns, scanned=survey.scanned)


def alert_json(row: FindingRow) -> Json:
    """One finding with what it is about, and where its runbook stands."""
    finding = row.finding
    return {
        "level": finding.level.word,
        "code": str(finding.code),
        "stream": None if row.stream is None else text_json(row.stream),
        "group": None if row.group is None else text_json(row.group),
        "text": safe(finding.text),
        "advice": safe(finding.advice),
        "runbook": anchor(finding.code),
    }
