"""``streamops webhooks``: URLs that messages are called back to."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from streamops.cli.options import command
from streamops.cli.session import Session
from streamops.errors import NotFound
from streamops.model.fields import argument
from streamops.resources.topics import (
    TOPIC_COLUMNS,
    TOPIC_DETAIL_COLUMNS,
    TopicRow,
    read_topic_rows,
    topic_json,
)
from streamops.settings.topics import list_topics

if TYPE_CHECKING:
    from streamops.operations.console import Console


@command(
    examples=[
        ("streamops webhooks ls", "the topics of the configuration, and those kept in Redis"),
        ("streamops webhooks ls -o jsonl", "all settings but secrets"),
    ],
)
def ls(session: Session) -> None:
    """List topics: those of the configuration files, and those that are kept in Redis.

    If both have a topic of one name, the configuration's is used. Topics of other contexts are listed without
    their waiting messages.
    """
    printer = session.printer(TOPIC_COLUMNS, TOPIC_DETAIL_COLUMNS)
    rows = session.run(lambda console: _read(session, console))
    printer.print_list("topics.ls", "topics", rows, topic_json)
    if not rows:
        session.narrator.note("there are no topics; `streamops webhooks create --help` shows how to add one")


@command(
    examples=[("streamops webhooks show remind", "its settings, without secret and header values")],
    exits={1: "no such topic"},
)
def show(session: Session, *, topic: Annotated[str, argument("", "topics")]) -> None:
    """Show a topic's settings. Its secret and the values of its headers are never shown."""
    printer = session.printer((*TOPIC_COLUMNS, *TOPIC_DETAIL_COLUMNS))
    rows = session.run(lambda console: _read(session, console))
    row = next((row for row in rows if row.name == topic), None)
    if row is None:
        raise NotFound(f"there is no topic {topic}", "`streamops webhooks ls` lists them.")
    printer.print_record(row, lambda: {"schema": "streamops.topics.show/1", **topic_json(row)})


async def _read(session: Session, console: "Console") -> list[TopicRow]:
    configured = list_topics(os.environ, Path.cwd())
    return await read_topic_rows(console.topics, configured, session.settings.context)
