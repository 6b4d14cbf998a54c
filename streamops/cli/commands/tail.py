"""``streamops streams tail``: entries as they come."""

import click

from streamops.cli.command import Command
from streamops.cli.entry_rows import entry_document, entry_printer
from streamops.cli.following import follow
from streamops.cli.params import ENTRY_ID, streams_argument
from streamops.cli.session import Session, with_session
from streamops.errors import ExitCode
from streamops.model.entries import EntryId


@click.command(
    cls=Command,
    short_help="Follow entries as they are added.",
    examples=[
        ("streamops streams tail orders", "from now on"),
        ("streamops streams tail orders payments -n 5 -o jsonl", "two streams, the last five of each first"),
        ("streamops streams tail orders --from 0 --limit 10", "the first ten entries"),
    ],
    exits={1: "no such stream", 130: "stopped with Ctrl-C"},
)
@streams_argument
@click.option("--from", "from_id", type=ENTRY_ID, metavar="ID", help="Begin with this ID instead of now.")
@click.option("-n", "last", type=click.IntRange(min=0), metavar="N", help="Begin with the last N entries.")
@with_session
def tail(session: Session, *, streams: tuple[str, ...], from_id: EntryId | None, last: int | None) -> int:
    """Print entries of streams as they are added, until Ctrl-C, or until --limit entries have been printed.

    Entries are read, not taken: consumer groups do not notice.
    """
    if from_id is not None and last is not None:
        raise click.UsageError("--from and -n exclude each other")
    lines = entry_printer(session, with_stream=len(streams) > 1).lines(entry_document)
    try:
        session.run(
            lambda console: follow(
                console, streams, lines.row, from_id=from_id, last=last or 0, limit=session.given.limit
            )
        )
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE
