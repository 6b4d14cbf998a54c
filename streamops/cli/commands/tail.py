"""``streamops streams tail``: entries as they come."""

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Annotated

import click

from streamops.cli.options import command
from streamops.cli.params import Streams
from streamops.cli.reading import entry_document, entry_printer
from streamops.cli.session import Session
from streamops.errors import ExitCode
from streamops.model.entries import ZERO_ID, EntryId, StreamEntry
from streamops.model.fields import option
from streamops.resources.entries import EntryRow

if TYPE_CHECKING:
    from streamops.operations.console import Console


@command(
    examples=[
        ("streamops streams tail orders", "from now on"),
        ("streamops streams tail orders payments -n 5 -o jsonl", "two streams, the last five of each first"),
        ("streamops streams tail orders --from 0 --limit 10", "the first ten entries"),
    ],
    exits={1: "no such stream", 130: "stopped with Ctrl-C"},
)
def tail(
    session: Session,
    *,
    streams: Streams,
    from_id: Annotated[EntryId | None, option("Start at this ID instead of now.", "from")] = None,
    last: Annotated[int | None, option("Start with the last N entries.", "-n")] = None,
) -> int:
    """Print entries of streams as they are added, until Ctrl-C, or until --limit entries have been printed.

    Entries are read with XRANGE and XREAD: consumer groups are not affected.
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


WAITING_ROWS = 100


async def follow(
    console: "Console",
    streams: Sequence[str],
    print_row: Callable[[EntryRow], None],
    *,
    from_id: EntryId | None,
    last: int,
    limit: int | None,
) -> None:
    """Print entries as they come.

    Args:
        console: Where to read.
        streams: The streams, each from the same starting point.
        print_row: Prints one row.
        from_id: Begin with this ID; none begins with the last entries, or now.
        last: Begin with this many entries of each.
        limit: End after this many rows; none goes on for ever.

    Raises:
        ServerError: A stream cannot be read.
    """
    rows: asyncio.Queue[EntryRow] = asyncio.Queue(WAITING_ROWS)

    async def feed(stream: str) -> None:
        after = _before(from_id) if from_id is not None else None
        if last:
            for entry in await _read_last(console, stream, last):
                after = entry.id
                await rows.put(EntryRow(stream, entry))
        async for entry in console.tail(stream, after=after):
            await rows.put(EntryRow(stream, entry))

    async def drain() -> None:
        printed = 0
        while limit is None or printed < limit:
            print_row(await rows.get())
            printed += 1
            if rows.empty():
                sys.stdout.flush()

    await _first_ended([drain(), *(feed(stream) for stream in dict.fromkeys(streams))])


async def _first_ended(works: Sequence[Coroutine[None, None, None]]) -> None:
    """Run all until one ends, however it ends; stop the others."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _before(entry_id: EntryId) -> EntryId:
    return entry_id.previous() if entry_id > ZERO_ID else ZERO_ID


async def _read_last(console: "Console", stream: str, count: int) -> list[StreamEntry]:
    """The last entries of a stream, oldest first; fewer where they are very large."""
    page = await console.read_entries(stream, count=count, newest_first=True)
    return list(reversed(page.entries))
