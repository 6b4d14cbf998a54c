"""Delayed messages in files: a line as every backup has it, of the entry that the message would have become.

What it was besides stands under ``delayed``: ``{"stream", "id", "due_at", "group", "attempt", "origin_id"}``.
"""

import msgspec

from streamops.model.delayed import DelayedMessage
from streamops.model.entries import Entry
from streamops.model.ids import EntryId
from streamops.operate.backups import entry_line, json_line, name_json

UNREAD = b"_so_delayed_body"
"""The one field of a message whose body cannot be read."""


def message_line(stream: str, message: DelayedMessage, number: int) -> bytes:
    """A message of a stream's queue as a line, its line end included.

    Args:
        stream: The stream.
        message: The message.
        number: Which one of the file it is, from 1 on: what stands for an ID, which it never had.
    """
    body = message.body
    fields = body.entry_fields if body else ((UNREAD, message.raw),)
    line = msgspec.json.decode(
        entry_line(body.destination if body else stream, Entry(EntryId(0, number), fields))
    )
    line["delayed"] = {
        "stream": name_json(stream),
        "id": name_json(message.id),
        "due_at": message.due_at,
        "group": name_json(body.group) if body else "",
        "attempt": body.attempt if body else 0,
        "origin_id": name_json(body.origin_id) if body else "",
    }
    return json_line(line)
