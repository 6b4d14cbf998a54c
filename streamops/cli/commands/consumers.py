"""``streamops consumers``."""

from typing import Annotated

from streamops.cli.options import command
from streamops.cli.params import Group, OptionalGroup, Stream
from streamops.cli.reading import note_read_errors, observe_stream, only_group, only_stream
from streamops.cli.session import Session
from streamops.errors import NotFound
from streamops.model.fields import argument
from streamops.model.json_text import text_json
from streamops.model.wording import counted
from streamops.resources.consumers import CONSUMER_COLUMNS, consumer_json, consumer_rows
from streamops.resources.status import read_errors_json, snapshot_header


@command(
    examples=[
        ("streamops consumers ls orders", "the consumers of all groups"),
        ("streamops consumers ls orders billing", "the consumers of one group"),
    ],
    exits={1: "no such stream or group"},
)
def ls(session: Session, *, stream: Stream, group: OptionalGroup = None) -> None:
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


@command(
    examples=[
        ("streamops consumers show orders billing web-1", "its pending entries and when it was last seen")
    ],
    exits={1: "no such stream, group or consumer"},
)
def show(session: Session, *, stream: Stream, group: Group, consumer: Annotated[str, argument("")]) -> None:
    """Show how many pending entries a consumer has, and how long it has been idle."""
    printer = session.printer(CONSUMER_COLUMNS)
    observation = observe_stream(session, stream)
    rows = consumer_rows(only_group(only_stream(observation, stream), group))
    row = next((one for one in rows if one.consumer.name == consumer), None)
    if row is None:
        names = ", ".join(one.consumer.name for one in rows) or "none"
        raise NotFound(f"group {stream}/{group} has no consumer {consumer}", f"Its consumers: {names}.")
    head = {**snapshot_header(observation), "stream": text_json(stream), "group": text_json(group)}
    printer.print_record(
        row, lambda: {"schema": "streamops.consumers.show/1", **head, **consumer_json(row.consumer)}
    )
    note_read_errors(session, observation.snapshot.gaps)
