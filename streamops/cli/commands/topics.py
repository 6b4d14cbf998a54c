"""``streamops topics``: URLs that messages are called back to."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamops.cli.acting.command import acting_command
from streamops.cli.command import Command
from streamops.cli.params import COMPLETIONS
from streamops.cli.session import Session, with_session
from streamops.errors import NotFound
from streamops.operations.topics.intent import (
    AddTopicIntent,
    RemoveTopicIntent,
    TopicOffIntent,
    TopicOnIntent,
)
from streamops.present.columns.topics import TOPIC_COLUMNS, TOPIC_DETAIL_COLUMNS
from streamops.present.topic_rows import read_topic_rows
from streamops.present.topics import TopicRow, topic_json
from streamops.settings.topics import list_topics

if TYPE_CHECKING:
    from streamops.operations.console import Console


@click.command(
    cls=Command,
    short_help="List topics, and how much waits for them.",
    examples=[
        ("streamops topics ls", "the topics of the configuration, and those kept in Redis"),
        ("streamops topics ls -o jsonl", "with everything that they say, but their secrets"),
    ],
)
@with_session
def ls(session: Session) -> None:
    """List topics: those of the configuration files, and those that are kept in Redis.

    Where both have one of a name, the configuration's counts. Topics that name another context are listed, but
    how much waits for them is not looked up.
    """
    printer = session.printer(TOPIC_COLUMNS, TOPIC_DETAIL_COLUMNS)
    rows = session.run(lambda console: _read(session, console))
    shown = rows[: session.given.limit]
    printer.print_rows(
        shown,
        lambda: {"schema": "streamops.topics.ls/1", "topics": [topic_json(row) for row in shown]},
        topic_json,
    )
    if not rows:
        session.narrator.note("there are no topics; `streamops topics add --help` shows how to add one")


@click.command(
    cls=Command,
    short_help="Show one topic.",
    examples=[("streamops topics show remind", "what it says, but its secret and its headers' values")],
    exits={1: "no such topic"},
)
@click.argument("topic", shell_complete=COMPLETIONS["topics"])
@with_session
def show(session: Session, *, topic: str) -> None:
    """Show everything that a topic says. Its secret and the values of its headers are never shown."""
    printer = session.printer((*TOPIC_COLUMNS, *TOPIC_DETAIL_COLUMNS))
    rows = session.run(lambda console: _read(session, console))
    row = next((row for row in rows if row.name == topic), None)
    if row is None:
        raise NotFound(f"there is no topic {topic}", "`streamops topics ls` lists them.")
    printer.print_record(row, lambda: {"schema": "streamops.topics.show/1", **topic_json(row)})


add = acting_command(
    AddTopicIntent,
    "add",
    "Keep a topic in Redis.",
    help=(
        "Keep a topic in Redis: a URL that its messages are called back to, once they are due. Whoever runs "
        "`streamops topics serve` notices within a second or so. It is not asked for consent; --dry-run shows the plan. "
        "Secrets are read from files, are never shown, and stand in Redis as they are: whoever may read the key "
        "streamops:topics may read them."
    ),
    examples=[
        (
            "streamops topics add remind https://hooks.example.net/remind --delay 30m",
            "called after half an hour",
        ),
        (
            "streamops topics add paid https://hooks.example.net/paid --retry '1m, 5m, 1h' --secret-file key",
            "with its own schedule, and signed",
        ),
        (
            "streamops topics add sync https://hooks.example.net/sync --retry-when 'body.code != `200`'",
            "called again unless the answer says so",
        ),
    ],
    exits={
        2: "usage or configuration: something of the topic makes no sense",
        4: "refused: there is one, read-only",
    },
)
off = acting_command(
    TopicOffIntent,
    "off",
    "Call a topic's messages no more, for the time being.",
    help=(
        "Call a topic's messages no more, until it is switched on again. They are still taken in, and wait; calls "
        "under way come to their end. It is not asked for consent."
    ),
    examples=[("streamops topics off remind", "its messages wait")],
    exits={1: "failed; no such topic is kept in Redis"},
)
on = acting_command(
    TopicOnIntent,
    "on",
    "Call a topic's messages again.",
    help="Call the messages of a topic again that was switched off. It is not asked for consent.",
    examples=[("streamops topics on remind", "what waits is called, as it is due")],
    exits={1: "failed; no such topic is kept in Redis"},
)
rm = acting_command(
    RemoveTopicIntent,
    "rm",
    "Remove a topic that is kept in Redis.",
    help=(
        "Remove a topic that is kept in Redis, with its secret. Its stream and the messages that wait stay where "
        "they are, and nobody calls them; `streamops delayed cancel` and `streamops trim` deal with them."
    ),
    examples=[("streamops topics rm remind --confirm remind", "without being asked")],
    exits={1: "failed; no such topic is kept in Redis"},
)


async def _read(session: Session, console: "Console") -> list[TopicRow]:
    configured = list_topics(os.environ, Path.cwd())
    return await read_topic_rows(console.topics, configured, session.settings.context)
