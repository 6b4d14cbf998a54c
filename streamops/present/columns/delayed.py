"""Delayed messages: what ``delayed ls`` and ``delayed show`` tell."""

from datetime import timedelta
from typing import Final

from streamops.model.delayed import DelayedBody
from streamops.present.cells import NAME_WIDTH, NOT_THERE, count_cell, name_cell, seconds
from streamops.present.delayed import DelayedQueueRow, DelayedRow
from streamops.present.entries import NAME_BYTES, preview
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.text import safe, safe_bytes
from streamops.present.units import duration, rfc3339, size, timestamp

PREVIEW_WIDTH: Final = 60
VALUE_BYTES: Final = 4096


def _due_cell(left: timedelta | None) -> Cell:
    if left is None:
        return NOT_THERE
    return Cell(duration(left), Tone.WARN if left < timedelta(0) else Tone.PLAIN)


def _halves(row: DelayedQueueRow) -> Cell:
    queue = row.queue
    return Cell(f"{queue.bodies:,}", Tone.PLAIN if queue.bodies == queue.messages else Tone.WARN)


DELAYED_QUEUE_COLUMNS: Final[tuple[Column[DelayedQueueRow], ...]] = (
    Column(
        key="stream",
        title="STREAM",
        help="The stream beside which they wait.",
        source="sorted sets T:delayed, or the configuration's delayed",
        cell=lambda row: name_cell(row.queue.stream),
        value=lambda row: row.queue.stream,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="messages",
        title="MESSAGES",
        help="How many messages wait.",
        source="ZCARD of the sorted set",
        cell=lambda row: count_cell(row.queue.messages),
        value=lambda row: row.queue.messages,
        width=9,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="due",
        title="DUE",
        help="How many are due, and wait to be promoted.",
        source="ZCOUNT up to now, by TIME",
        cell=lambda row: count_cell(row.queue.due),
        value=lambda row: row.queue.due,
        width=9,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="next_due_in_seconds",
        title="NEXT IN",
        help="Time until the first one is due; negative where it is overdue.",
        source="ZRANGE 0 0 WITHSCORES, less TIME",
        cell=lambda row: _due_cell(row.next_due_in),
        value=lambda row: seconds(row.next_due_in),
        width=8,
        align=Align.RIGHT,
    ),
    Column(
        key="bodies",
        title="BODIES",
        help="How many bodies there are; it differs from messages where some lack one of the two.",
        source="HLEN of the hash of bodies",
        cell=_halves,
        value=lambda row: row.queue.bodies,
        width=9,
        align=Align.RIGHT,
        priority=2,
        descending=True,
    ),
)


def _body_cell(row: DelayedRow, text: str) -> Cell:
    return name_cell(text) if row.message.body is not None and text else NOT_THERE


def _body(row: DelayedRow) -> DelayedBody:
    return row.message.body or DelayedBody("", ())


def _content(row: DelayedRow) -> Cell:
    if row.message.problem:
        return Cell(safe(row.message.problem), Tone.WARN)
    return Cell(preview(row.entry))


DELAYED_COLUMNS: Final[tuple[Column[DelayedRow], ...]] = (
    Column(
        key="id",
        title="ID",
        help="The message's ID.",
        source="a member of the sorted set",
        cell=lambda row: name_cell(row.message.id),
        value=lambda row: row.message.id,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="due_in_seconds",
        title="DUE IN",
        help="Time until it is due; negative where it is overdue, a dash where it never will be.",
        source="its score, less TIME",
        cell=lambda row: _due_cell(row.due_in),
        value=lambda row: seconds(row.due_in),
        width=8,
        align=Align.RIGHT,
        priority=0,
    ),
    Column(
        key="destination",
        title="DESTINATION",
        help="The stream that it is added to: its queue's own, or the retry stream of one group.",
        source="its body in the hash",
        cell=lambda row: _body_cell(row, _body(row).destination),
        value=lambda row: _body(row).destination or None,
        width=NAME_WIDTH,
        flexible=True,
        priority=2,
    ),
    Column(
        key="group",
        title="GROUP",
        help="The one group that it is due again for; a dash where it is a message for all.",
        source="its body in the hash",
        cell=lambda row: _body_cell(row, _body(row).group),
        value=lambda row: _body(row).group or None,
        width=12,
        flexible=True,
    ),
    Column(
        key="attempt",
        title="ATTEMPT",
        help="Which attempt of that group it will be.",
        source="its body in the hash",
        cell=lambda row: count_cell(_body(row).attempt) if _body(row).group else NOT_THERE,
        value=lambda row: _body(row).attempt if _body(row).group else None,
        width=7,
        align=Align.RIGHT,
    ),
    Column(
        key="preview",
        title="CONTENT",
        help="The first fields and values; or why it cannot become an entry.",
        source="its body in the hash",
        cell=_content,
        value=lambda row: _content(row).text,
        width=PREVIEW_WIDTH,
        flexible=True,
        priority=0,
    ),
)

DELAYED_DETAIL_COLUMNS: Final[tuple[Column[DelayedRow], ...]] = (
    Column(
        key="stream",
        title="STREAM",
        help="The stream beside which it waits.",
        source="sorted sets T:delayed, or the configuration's delayed",
        cell=lambda row: name_cell(row.stream),
        value=lambda row: row.stream,
        width=NAME_WIDTH,
    ),
    Column(
        key="due_at",
        title="DUE AT",
        help="When it is due, in UTC.",
        source="its score in the sorted set",
        cell=lambda row: NOT_THERE if row.message.due_at is None else Cell(timestamp(row.message.due_at)),
        value=lambda row: None if row.message.due_at is None else rfc3339(row.message.due_at),
        width=20,
    ),
    Column(
        key="origin_id",
        title="ORIGIN ID",
        help="The entry that the group failed at.",
        source="its body in the hash",
        cell=lambda row: _body_cell(row, _body(row).origin_id),
        value=lambda row: _body(row).origin_id or None,
        width=20,
    ),
    Column(
        key="size",
        title="SIZE",
        help="Bytes of all field names and values.",
        source="its body in the hash",
        cell=lambda row: Cell(size(row.entry.size)),
        value=lambda row: row.entry.size,
        width=10,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="problem",
        title="PROBLEM",
        help="Why it cannot become an entry; a dash where it can.",
        source="its body in the hash",
        cell=lambda row: Cell(safe(row.message.problem), Tone.WARN) if row.message.problem else NOT_THERE,
        value=lambda row: row.message.problem or None,
        width=40,
    ),
)

FIELD_COLUMNS: Final[tuple[Column[tuple[bytes, bytes]], ...]] = (
    Column(
        key="field",
        title="FIELD",
        help="The field's name.",
        source="its body in the hash",
        cell=lambda pair: Cell(safe_bytes(pair[0], NAME_BYTES)),
        value=lambda pair: safe_bytes(pair[0], NAME_BYTES),
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="value",
        title="VALUE",
        help="Its value, the first 4 KiB; control characters and bytes that are not UTF-8 are escaped.",
        source="its body in the hash",
        cell=lambda pair: Cell(safe_bytes(pair[1], VALUE_BYTES)),
        value=lambda pair: safe_bytes(pair[1], VALUE_BYTES),
        width=PREVIEW_WIDTH,
        flexible=True,
        priority=0,
    ),
)
