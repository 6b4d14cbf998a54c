"""``streamops dlq``: dead-letter queues and their letters."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from streamops.cli.options import command, given_value, param_of
from streamops.cli.printer import Section
from streamops.cli.session import Session
from streamops.model.dead_letters import QueueSummary
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.fields import argument, intent_fields
from streamops.model.json_text import text_json
from streamops.model.selections import DeadLetterSelection
from streamops.model.wording import counted
from streamops.monitor.dead_letters import DeadLetterPage, DeadLetterQueues
from streamops.operations.backups import BackupWriter, entry_line
from streamops.resources.dead_letters import (
    DEAD_LETTER_COLUMNS,
    DEAD_LETTER_DETAIL_COLUMNS,
    DEAD_LETTER_QUEUE_COLUMNS,
    REASON_COLUMNS,
    DeadLetterRow,
    QueueRow,
    dead_letter_json,
    queue_row_json,
    reason_rows,
)
from streamops.resources.delayed import FIELD_COLUMNS
from streamops.resources.payloads import envelope_fields
from streamops.resources.status import read_errors_json

if TYPE_CHECKING:
    from streamops.operations.console import Console

STDOUT: Final = "-"
FILTERS: Final = tuple(field for field in intent_fields(DeadLetterSelection) if not field.argument)
"""The options of a selection, those of replaying and purging."""

_Queue = Annotated[str, argument("", "queues", metavar="DLQ")]
_OptionalQueue = Annotated[str | None, argument("", "queues", metavar="[DLQ]")]


def _selection(queue: str, values: Mapping[str, Any]) -> DeadLetterSelection:
    return DeadLetterSelection(
        queue=queue, **{field.name: given_value(field, values[field.name], None) for field in FILTERS}
    )


@command(
    examples=[
        ("streamops dlq ls", "every queue, with its counts by reason"),
        ("streamops dlq ls '{orders}:dlq' --since 1h", "dead-lettered in the last hour"),
        ("streamops dlq ls '{orders}:dlq' --where 'deliveries > `5`' -o jsonl", "by an expression"),
    ],
    exits={1: "no such queue"},
    params=map(param_of, FILTERS),
)
def ls(session: Session, /, *, queue: _OptionalQueue = None, **values: Any) -> None:
    """List the dead-letter queues: streams whose names end in :dlq, and those that the configuration names.

    With DLQ, list its dead letters, the oldest first, at most 100 unless --limit says otherwise.
    Reasons are counted over the newest 200; COVERED is their share.
    """
    if queue is None:
        _list_queues(session)
    else:
        _list_dead_letters(session, _selection(queue, values))


def _list_queues(session: Session) -> None:
    printer = session.printer(DEAD_LETTER_QUEUE_COLUMNS)

    async def read(console: "Console") -> DeadLetterQueues:
        await console.discover()
        return await console.dead_letters.queues(console.discovery.names)

    found = session.run(read)
    rows = [QueueRow(queue) for queue in found.queues]
    gaps = read_errors_json(found.gaps)
    printer.print_list("dlq.ls", "queues", rows, queue_row_json, after={"gaps": gaps})
    note = session.narrator.note
    for gap in found.gaps:
        note(f"{gap.scope}: {gap.reason}")
    if not found.queues:
        note("no dead-letter queues: no stream's name ends in :dlq, and the configuration names none")


def _list_dead_letters(session: Session, selection: DeadLetterSelection) -> None:
    printer = session.printer(DEAD_LETTER_COLUMNS, DEAD_LETTER_DETAIL_COLUMNS)

    async def read(console: "Console") -> DeadLetterPage:
        return await console.dead_letters.page(selection, session.limit)

    found = session.run(read)
    rows = [DeadLetterRow(letter, found.now) for letter in found.letters]
    printer.print_rows(
        rows,
        lambda: {
            "schema": "streamops.dlq.letters/1",
            "queue": text_json(selection.queue),
            "letters": [dead_letter_json(row) for row in rows],
            "more": found.more,
        },
        dead_letter_json,
    )
    _note_role(session, selection.queue, is_queue=found.is_queue)
    if not rows:
        session.narrator.note(f"no dead letters match in queue {selection.queue}")
    if found.more:
        session.narrator.note("there are more; --limit shows more")


def _note_role(session: Session, stream: str, *, is_queue: bool) -> None:
    if not is_queue:
        session.narrator.note(
            f"{stream} is no dead-letter queue by its name or the configuration: all its entries are listed"
        )


@command(
    examples=[
        ("streamops dlq show '{orders}:dlq'", "its counts by reason"),
        ("streamops dlq show '{orders}:dlq' 1526919030474-0", "one dead letter in full"),
    ],
    exits={1: "no such queue or dead letter"},
)
def show(
    session: Session, *, queue: _Queue, ident: Annotated[EntryId | None, argument("", metavar="[ID]")] = None
) -> None:
    """Show one dead-letter queue and its counts by reason; with ID, one dead letter in full."""
    if ident is None:
        _show_queue(session, queue)
    else:
        _show_dead_letter(session, queue, ident)


def _show_queue(session: Session, queue: str) -> None:
    printer = session.printer(DEAD_LETTER_QUEUE_COLUMNS)

    async def read(console: "Console") -> tuple[QueueSummary, bool]:
        return await console.dead_letters.queue(queue), console.dead_letters.is_queue(queue)

    found, is_queue = session.run(read)
    row = QueueRow(found)
    printer.print_record(
        row,
        lambda: {"schema": "streamops.dlq.queue/1", **queue_row_json(row)},
        sections=[Section("Reasons", REASON_COLUMNS, reason_rows(found))],
    )
    _note_role(session, queue, is_queue=is_queue)


def _show_dead_letter(session: Session, queue: str, ident: EntryId) -> None:
    printer = session.printer((*DEAD_LETTER_COLUMNS, *DEAD_LETTER_DETAIL_COLUMNS))

    async def read(console: "Console") -> DeadLetterRow:
        letter = await console.dead_letters.read_one(queue, ident)
        return DeadLetterRow(letter, await console.dead_letters.clock(queue))

    row = session.run(read)
    opened = envelope_fields(StreamEntry(row.letter.id, row.letter.fields))
    printer.print_record(
        row,
        lambda: {"schema": "streamops.dlq.show/1", **dead_letter_json(row)},
        sections=[
            Section("Fields", FIELD_COLUMNS, row.letter.fields),
            *([Section("Envelope", FIELD_COLUMNS, opened)] if opened else []),
        ],
    )


@command(
    examples=[
        ("streamops dlq export '{orders}:dlq' orders.jsonl", "all of them"),
        ("streamops dlq export '{orders}:dlq' - --since 1d | gzip > day.jsonl.gz", "the last day's"),
    ],
    exits={1: "no such queue", 2: "usage or configuration; the file exists already"},
    params=map(param_of, FILTERS),
)
def export(
    session: Session, /, *, queue: _Queue, file: Annotated[str, argument("", metavar="FILE")], **values: Any
) -> None:
    """Write dead letters to a new file, or to stdout where FILE is -: JSON lines, byte for byte.

    `streamops restore` reads them back. The queue is left as it is.
    """
    selection = _selection(queue, values)
    if file == STDOUT:
        written = _export(session, selection, _to_stdout(queue))
    else:
        with BackupWriter(file) as backup:
            written = _export(session, selection, lambda entries: backup.write(queue, entries))
            backup.kept = True
    where = "" if file == STDOUT else f" to {file}"
    session.narrator.note(f"{counted(written, 'dead letter', 'dead letters')} written{where}")


def _export(
    session: Session, selection: DeadLetterSelection, write: Callable[[Sequence[StreamEntry]], None]
) -> int:
    return session.run(lambda console: console.dead_letters.export(selection, write))


def _to_stdout(queue: str) -> Callable[[Sequence[StreamEntry]], None]:
    def write(entries: Sequence[StreamEntry]) -> None:
        sys.stdout.write("".join(entry_line(queue, entry).decode() for entry in entries))

    return write
