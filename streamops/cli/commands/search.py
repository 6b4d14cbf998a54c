"""``streamops streams search``: a bounded scan that says how far it got."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

import click

from streamops.cli.options import command
from streamops.cli.params import Since, Stream, Until
from streamops.cli.reading import entry_document, entry_printer, id_at, only_stream
from streamops.cli.session import Session
from streamops.cli.terminal import Narrator
from streamops.model.entries import LAST_ID, MAX_PART, ZERO_ID, EntryId
from streamops.model.expressions import Expression
from streamops.model.fields import option
from streamops.model.json_text import text_json
from streamops.model.wording import counted
from streamops.monitor.search import EntryWords, Search, SearchProgress, SearchResult, StopReason
from streamops.resources.entries import EntryRow, entry_json
from streamops.resources.kinds import id_text

if TYPE_CHECKING:
    from streamops.operations.console import Console

DEFAULT_MAX_SCAN: Final = 1_000_000


@command(
    examples=[
        (
            "streamops streams search orders --since 1h --field status=failed",
            "the failed ones of the last hour",
        ),
        (
            "streamops streams search orders --where 'json.body.amount > `100`'",
            "by a number inside a JSON value",
        ),
        ("streamops streams search orders --contains a-1007 --newest-first", "a text in any field"),
        ("streamops streams search orders --newest-first --limit 5 -o jsonl", "the last five, as JSON lines"),
    ],
    exits={1: "no such stream"},
)
def search(
    session: Session,
    *,
    stream: Stream,
    since: Since = None,
    until: Until = None,
    from_id: Annotated[EntryId | None, option("First ID.")] = None,
    to_id: Annotated[EntryId | None, option("Last ID.")] = None,
    field: Annotated[
        tuple[tuple[bytes, bytes], ...],
        option("Match entries with this field and value; repeatable.", metavar="NAME=VALUE"),
    ] = (),
    contains: Annotated[
        tuple[str, ...], option("Match entries that contain this text, ignoring case; repeatable.")
    ] = (),
    lacks: Annotated[
        tuple[str, ...], option("Match entries that do not contain this text, ignoring case; repeatable.")
    ] = (),
    where: Annotated[
        str | None,
        option(
            "Match entries for which this JMESPath expression over {id, time, fields, json} is true.",
            metavar="EXPR",
        ),
    ] = None,
    max_scan: Annotated[
        int, click.IntRange(min=1), option("Scan at most N entries.", metavar="N")
    ] = DEFAULT_MAX_SCAN,
    newest_first: Annotated[bool, option("Scan from the newest entry to the oldest.")] = False,
) -> None:
    """Find entries that meet every condition. All fields of an expression are strings; json has typed values.

    The scan is bounded; how far it got, and why it stopped, is printed on stderr and in -o json. At most 100
    matches are printed unless --limit is given.
    """
    printer = entry_printer(session, with_stream=False)
    condition = Expression(where) if where is not None else None
    words = EntryWords(contains, lacks) if contains or lacks else None
    progress = _Progress(session.narrator)

    async def find(console: "Console") -> SearchResult:
        observation = await console.observe([stream])
        only_stream(observation, stream)
        now = observation.snapshot.collected_at
        query = Search(
            start=max(id_at(since, now) or ZERO_ID, from_id or ZERO_ID),
            end=min(id_at(until, now, MAX_PART) or LAST_ID, to_id or LAST_ID),
            fields=field,
            where=condition,
            words=words,
            limit=session.limit,
            max_scan=max_scan,
            newest_first=newest_first,
        )
        return await console.search(stream, query, progress)

    try:
        result = session.run(find)
    except (KeyboardInterrupt, asyncio.CancelledError):
        progress.note_interrupted()
        raise
    printer.print_rows(
        [EntryRow(stream, entry) for entry in result.entries],
        lambda: {
            "schema": "streamops.streams.search/1",
            "stream": text_json(stream),
            "entries": [entry_json(stream, entry) for entry in result.entries],
            "scanned": result.scanned,
            "first_id": id_text(result.first_id),
            "last_id": id_text(result.last_id),
            "stopped": result.stopped,
        },
        entry_document,
    )
    session.narrator.note(_how_far(result, newest_first=newest_first))


def _how_far(result: SearchResult, *, newest_first: bool) -> str:
    if result.first_id is None or result.last_id is None:
        return "no entries in that range"
    scope = (
        f"scanned {counted(result.scanned, 'entry', 'entries')} from {result.first_id} to {result.last_id}"
    )
    onward = f"--to-id {result.last_id.previous()}" if newest_first else f"--from-id {result.last_id.next()}"
    reasons = {
        StopReason.END: "the range ends there",
        StopReason.LIMIT: f"the limit is reached; continue with {onward}",
        StopReason.MAX_SCAN: f"--max-scan is reached; continue with {onward}",
        StopReason.MAX_BYTES: f"go on with {onward}",
        StopReason.MAX_TIME: f"go on with {onward}",
    }
    return f"{len(result.entries):,} match; {scope}: {reasons[result.stopped]}"


class _Progress:
    """Tells on a terminal how far a search is."""

    def __init__(self, narrator: Narrator) -> None:
        self._narrator = narrator
        self._last: SearchProgress | None = None

    def __call__(self, progress: SearchProgress) -> None:
        self._last = progress
        entries = counted(progress.scanned, "entry", "entries")
        self._narrator.progress(f"scanned {entries} up to {progress.at}, {progress.matched:,} match")

    def note_interrupted(self) -> None:
        """Say how far the search was when it was interrupted."""
        if self._last is not None:
            entries = counted(self._last.scanned, "entry", "entries")
            self._narrator.note(
                f"{self._last.matched:,} match so far; scanned {entries} up to {self._last.at}"
            )
