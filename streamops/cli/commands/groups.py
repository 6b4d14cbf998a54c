"""``streamops groups ls`` and ``show``."""

from streamops.cli.options import command
from streamops.cli.params import Group, Patterns, Stream
from streamops.cli.printer import Section
from streamops.cli.reading import (
    LISTED,
    group_columns,
    group_order,
    note_profile,
    note_read_errors,
    note_reading,
    observe_stream,
    observe_streams,
    only_group,
    only_stream,
)
from streamops.cli.session import Session
from streamops.errors import ExitCode
from streamops.model.json_text import Json, text_json
from streamops.model.wording import counted
from streamops.monitor.observe import fold_retries
from streamops.resources.consumers import CONSUMER_COLUMNS, consumer_rows
from streamops.resources.findings import FINDING_COLUMNS, FindingRow
from streamops.resources.groups import (
    GROUP_DETAIL_COLUMNS,
    GroupRow,
    group_detail_json,
    group_json,
    group_rows,
)
from streamops.resources.pending import PROFILE_COLUMNS, profile_rows
from streamops.resources.status import read_errors_json, snapshot_header

MEMBER_COLUMNS = tuple(column for column in CONSUMER_COLUMNS if column.key not in {"stream", "group"})


@command(
    examples=[
        ("streamops groups ls", "all groups"),
        ("streamops groups ls orders -o jsonl", "the groups of one stream, one JSON object a line"),
    ],
    exits={1: "a stream that PATTERN names does not exist"},
)
def ls(session: Session, *, patterns: Patterns = ()) -> ExitCode:
    """List consumer groups with lag, pending entries, consumers and health.

    PATTERN is a stream's name or a glob; without any, the context's streams are looked at, or all of them.
    """
    printer = session.printer(group_columns(session), GROUP_DETAIL_COLUMNS)
    survey = observe_streams(session, patterns)
    observation = survey.observation
    groups = group_rows(view for view in fold_retries(observation.streams) if view.groups)
    rows = group_order(printer.output, groups)
    printer.print_list(
        "groups.ls",
        "groups",
        rows,
        _document,
        before=snapshot_header(observation),
        after={"gaps": read_errors_json(observation.snapshot.gaps)},
        flat=True,
    )
    if observation.streams and not rows:
        session.narrator.note(f"{counted(len(observation.streams), 'stream', 'streams')}, and no group")
    return note_reading(session, observation, patterns, scanned=survey.scanned)


@command(
    examples=[("streamops groups show orders billing", "one group in full")],
    exits={1: "no such stream or group"},
)
def show(session: Session, *, stream: Stream, group: Group) -> None:
    """Show one group: position, lag and its basis, consumers, pending entries, and findings."""
    printer = session.printer((*LISTED, *GROUP_DETAIL_COLUMNS))
    observation = observe_stream(session, stream)
    stream_view = only_stream(observation, stream)
    view = only_group(stream_view, group)
    profile = view.group.profile
    printer.print_record(
        GroupRow(stream_view, view),
        lambda: {
            "schema": "streamops.groups.info/1",
            **snapshot_header(observation),
            **group_detail_json(view),
            "gaps": read_errors_json(observation.snapshot.gaps),
        },
        sections=[
            Section("Consumers", MEMBER_COLUMNS, consumer_rows(view)),
            Section("Pending entries", PROFILE_COLUMNS, profile_rows(profile) if profile else ()),
            Section(
                "Findings", FINDING_COLUMNS, [FindingRow(stream, group, found) for found in view.findings]
            ),
        ],
    )
    if profile:
        note_profile(session, profile)
    note_read_errors(session, observation.snapshot.gaps)


def _document(row: GroupRow) -> Json:
    return {} if row.group is None else {"stream": text_json(row.group.stream), **group_json(row.group)}
