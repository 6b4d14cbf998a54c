"""``streamops streams ls`` and ``show``."""

from streamops.cli.globals import Output
from streamops.cli.options import command
from streamops.cli.params import Patterns, Stream
from streamops.cli.printer import Section
from streamops.cli.reading import note_read_errors, note_reading, observe_stream, observe_streams, only_stream
from streamops.cli.session import Session
from streamops.errors import ExitCode
from streamops.resources.findings import FINDING_COLUMNS, finding_rows
from streamops.resources.groups import GROUP_COLUMNS, group_rows
from streamops.resources.status import read_errors_json, snapshot_header
from streamops.resources.streams import STREAM_COLUMNS, STREAM_DETAIL_COLUMNS, asked_for_alone, stream_json

INFO_GROUP_COLUMNS = tuple(
    column for column in GROUP_COLUMNS if column.key not in {"stream", "length", "trend"}
)


@command(
    examples=[
        ("streamops streams ls", "all streams"),
        ("streamops streams ls 'orders:*' --fields stream,length,last_id", "three columns of these"),
    ],
    exits={1: "a stream that PATTERN names does not exist"},
)
def ls(session: Session, *, patterns: Patterns = ()) -> ExitCode:
    """List streams with their length, groups, pending entries and health.

    PATTERN is a stream's name or a glob; without any, the context's streams are listed, or all of them.
    """
    printer = session.printer(STREAM_COLUMNS, STREAM_DETAIL_COLUMNS)
    survey = observe_streams(session, patterns)
    observation = survey.observation
    hides = not patterns and session.given.output is Output.TABLE
    streams = [view for view in observation.streams if not (hides and asked_for_alone(view))]
    printer.print_list(
        "streams.ls",
        "streams",
        streams,
        stream_json,
        before=snapshot_header(observation),
        after={"gaps": read_errors_json(observation.snapshot.gaps)},
        flat=True,
    )
    return note_reading(session, observation, patterns, scanned=survey.scanned)


@command(
    examples=[("streamops streams show orders", "one stream in full")],
    exits={1: "no such stream"},
)
def show(session: Session, *, stream: Stream) -> None:
    """Show one stream: length, IDs, role, health, groups and findings."""
    printer = session.printer((*STREAM_COLUMNS, *STREAM_DETAIL_COLUMNS))
    observation = observe_stream(session, stream)
    view = only_stream(observation, stream)
    printer.print_record(
        view,
        lambda: {
            "schema": "streamops.streams.info/1",
            **snapshot_header(observation),
            **stream_json(view),
            "gaps": read_errors_json(observation.snapshot.gaps),
        },
        sections=[
            Section("Groups", INFO_GROUP_COLUMNS, group_rows([view]) if view.groups else ()),
            Section("Findings", FINDING_COLUMNS, finding_rows(observation)),
        ],
    )
    note_read_errors(session, observation.snapshot.gaps)
