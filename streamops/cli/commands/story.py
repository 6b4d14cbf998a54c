"""``streamops streams story``: what became of one entry."""

import click

from streamops.cli.command import Command
from streamops.cli.params import ENTRY_ID, stream_argument
from streamops.cli.session import Session, with_session
from streamops.model.ids import EntryId
from streamops.present.stories import STORY_COLUMNS, event_json, story_json


@click.command(
    cls=Command,
    short_help="Tell what became of one entry.",
    examples=[
        ("streamops streams story orders 1526919030474-0", "added, delivered, given up, replayed"),
        ("streamops streams story orders 1526919030474-0 -o json", "for a program"),
    ],
    exits={1: "no such stream"},
)
@stream_argument
@click.argument("ident", metavar="ID", type=ENTRY_ID)
@with_session
def story(session: Session, *, stream: str, ident: EntryId) -> None:
    """Tell what became of an entry: added, pending with whom, retried, given up, replayed, acted on by operators.

    Groups, delayed messages, retry streams, the dead-letter queue, newer entries and the audit log are looked at, of
    long ones the newest thousand. What Redis does not know, and what was not looked at, is told on stderr.
    """
    printer = session.printer(STORY_COLUMNS)
    found = session.run(lambda console: console.stories.read(stream, ident))
    printer.print_rows(
        found.events,
        lambda: {"schema": "streamops.streams.story/1", **story_json(found)},
        event_json,
    )
    for sentence in found.unknown:
        session.narrator.note(f"not known: {sentence}")
