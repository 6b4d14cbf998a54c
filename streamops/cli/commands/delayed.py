"""``streamops delayed``: messages that wait for their time."""

from typing import TYPE_CHECKING, Annotated

from streamops.cli.options import command
from streamops.cli.params import OptionalStream, Stream
from streamops.cli.printer import Section
from streamops.cli.session import Session
from streamops.errors import NotFound
from streamops.model.fields import argument
from streamops.model.json_text import text_json
from streamops.model.wording import counted
from streamops.monitor.delayed import DelayedPage
from streamops.resources.delayed import (
    DELAYED_COLUMNS,
    DELAYED_DETAIL_COLUMNS,
    DELAYED_QUEUE_COLUMNS,
    FIELD_COLUMNS,
    DelayedQueueRow,
    DelayedRow,
    delayed_json,
    queue_json,
)
from streamops.resources.status import read_errors_json

if TYPE_CHECKING:
    from streamops.operations.console import Console


@command(
    examples=[
        ("streamops delayed ls", "every queue that is not empty"),
        ("streamops delayed ls orders", "the first hundred messages of one"),
    ],
    exits={1: "the key is of another type"},
)
def ls(session: Session, *, stream: OptionalStream = None) -> None:
    """List the queues of delayed messages; with STREAM, the messages of its queue.

    Queues are found by the known streams, by their configured names, and by the default name
    {STREAM}:delayed, even if the stream does not exist; the default name is not searched if the configuration
    names every stream.

    Messages are listed in the order in which they are due, at most 100 unless --limit is given. Members and
    bodies that can never become entries are listed too: other programs', and orphaned bodies.
    """
    if stream is None:
        _list_queues(session)
    else:
        _list_messages(session, stream)


def _list_queues(session: Session) -> None:
    printer = session.printer(DELAYED_QUEUE_COLUMNS)

    found = session.run(lambda console: console.find_delayed())
    rows = [DelayedQueueRow(queue, found.now) for queue in found.queues]
    rest = {"complete": found.complete, "gaps": read_errors_json(found.gaps)}
    printer.print_list("delayed.ls", "queues", rows, queue_json, after=rest)
    for gap in found.gaps:
        session.narrator.note(f"{gap.scope}: {gap.reason}")
    if not found.queues:
        session.narrator.note("no delayed messages for the known streams")
    if not found.complete:
        session.narrator.note("queues of streams that do not exist were not searched, or not everywhere")


def _list_messages(session: Session, stream: str) -> None:
    printer = session.printer(DELAYED_COLUMNS, DELAYED_DETAIL_COLUMNS)

    async def read(console: "Console") -> tuple[DelayedPage, str]:
        page = await console.delayed.page(stream, session.limit)
        nothing = not page.queue.bodies and not page.queue.messages
        return page, await console.delayed.lacks_stream(stream) if nothing else ""

    found, lack = session.run(read)
    rows = [DelayedRow(stream, one, found.now) for one in (*found.messages, *found.strays)]
    left_out = max(0, found.queue.messages - len(found.messages))
    printer.print_rows(
        rows,
        lambda: {
            "schema": "streamops.delayed.ls/1",
            **queue_json(DelayedQueueRow(found.queue, found.now)),
            "entries": [delayed_json(row) for row in rows],
            "left_out": left_out,
        },
        delayed_json,
    )
    note = session.narrator.note
    if not rows:
        note(lack or f"no delayed messages for stream {stream}")
    if left_out:
        note(f"{counted(left_out, 'message', 'messages')} more; --limit shows more")
    if broken := sum(1 for row in rows if row.message.problem and not row.message.foreign):
        note(
            f"{counted(broken, 'message', 'messages')} cannot become entries; `streamops delayed rm` removes them"
        )
    if foreign := sum(1 for row in rows if row.message.foreign):
        note(
            f"{counted(foreign, 'row is', 'rows are')} another program's, not delayed messages; nothing here touches them"
        )


@command(
    examples=[("streamops delayed show orders 4f1c09ab12cd", "one message in full")],
    exits={1: "no such message"},
)
def show(session: Session, *, stream: Stream, ident: Annotated[str, argument("", metavar="ID")]) -> None:
    """Show one delayed message: when it is due, where it goes, and its fields."""
    printer = session.printer((*DELAYED_COLUMNS, *DELAYED_DETAIL_COLUMNS))

    async def read(console: "Console") -> DelayedRow:
        (message,) = await console.delayed.messages(stream, [ident])
        return DelayedRow(stream, message, await console.delayed.clock(stream))

    row = session.run(read)
    if not row.message.exists:
        raise NotFound(
            f"stream {stream} has no delayed message {ident}",
            f"List them with `streamops delayed ls {stream}`; it may have become an entry.",
        )
    printer.print_record(
        row,
        lambda: {"schema": "streamops.delayed.show/1", "stream": text_json(stream), **delayed_json(row)},
        sections=[Section("Fields", FIELD_COLUMNS, row.entry.fields)],
    )
