"""``streamops consumers ls``."""

import click

from streamops.cli.command import Command
from streamops.cli.params import group_argument_optional, stream_argument
from streamops.cli.reading import note_read_errors, observe_stream, only_group, only_stream
from streamops.cli.session import Session, with_session
from streamops.model.json_text import text_json
from streamops.model.wording import counted
from streamops.resources.consumers import CONSUMER_COLUMNS, consumer_json, consumer_rows
from streamops.resources.status import read_errors_json, snapshot_header


@click.command(
    cls=Command,
    short_help="List the consumers of a stream's groups.",
    examples=[
        ("streamops consumers ls orders", "the consumers of all groups"),
        ("streamops consumers ls orders billing", "the consumers of one group"),
    ],
    exits={1: "no such stream or group"},
)
@stream_argument
@group_argument_optional
@with_session
def ls(session: Session, *, stream: str, group: str | None) -> None:
    """List consumers with their pending entries and how long they have been idle.

    An idle consumer need not be dead: before Redis 7.2, one that waits for entries looks the same.
    """
    printer = session.printer(CONSUMER_COLUMNS)
    observation = observe_stream(session, stream)
    view = only_stream(observation, stream)
    groups = view.groups if group is None else (only_group(view, group),)
    rows = [row for each in groups for row in consumer_rows(each)]
    printer.print_list(
        "consumers.ls",
        "consumers",
        rows,
        lambda row: {"group": text_json(row.group), **consumer_json(row.consumer)},
        before={**snapshot_header(observation), "stream": text_json(stream)},
        after={"gaps": read_errors_json(observation.snapshot.gaps)},
        flat=True,
    )
    if not rows:
        looked = f"group {group}" if group else counted(len(groups), "group", "groups")
        session.narrator.note(f"no consumers in {looked} of stream {stream}")
    note_read_errors(session, observation.snapshot.gaps)
