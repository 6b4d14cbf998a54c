"""A group in a file: a line with its position, then one line a pending row. ``restore`` reads it.

The first line is ``{"stream": ..., "group": ..., "last_delivered_id": ..., "entries_read": ..., "at": ...}``, the others are
``{"stream": ..., "group": ..., "id": ..., "consumer": ..., "idle_seconds": ..., "deliveries": ...}``. A name that is
not UTF-8 stands as ``{"base64": "..."}``.
"""

from base64 import b64decode, b64encode
from datetime import datetime, timedelta
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from streamops.model.acts.restore import SavedGroup, SavedRow
from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.operate.backups import json_line

LONGEST: Final = 10**10
"""Seconds that a row can have been idle, some 300 years: more is no span of time."""


class _Binary(Struct, frozen=True, forbid_unknown_fields=True):
    base64: str


_Name = str | _Binary


class _Head(Struct, frozen=True, kw_only=True):
    stream: _Name
    group: _Name
    last_delivered_id: str
    entries_read: int | None = None
    at: datetime | None = None


class _Row(Struct, frozen=True, kw_only=True):
    stream: _Name
    group: _Name
    id: str
    consumer: _Name
    idle_seconds: Annotated[float, Meta(ge=0, le=LONGEST)]
    deliveries: Annotated[int, Meta(ge=0, le=2**63 - 1)]


_HEAD: Final = msgspec.json.Decoder(_Head)
_ROW: Final = msgspec.json.Decoder(_Row)


def group_line(saved: SavedGroup) -> bytes:
    """A group as a line, its line end included."""
    head = _Head(
        stream=_packed(saved.stream),
        group=_packed(saved.group),
        last_delivered_id=str(saved.position),
        entries_read=saved.entries_read,
        at=saved.at,
    )
    return json_line(head)


def row_line(saved: SavedRow) -> bytes:
    """A pending row as a line, its line end included."""
    row = saved.row
    line = _Row(
        stream=_packed(saved.stream),
        group=_packed(saved.group),
        id=str(row.id),
        consumer=_packed(row.consumer),
        idle_seconds=row.idle.total_seconds(),
        deliveries=row.delivery_count,
    )
    return json_line(line)


def parse_group(line: bytes) -> SavedGroup:
    """The group that a line tells; raises ``ValueError`` where it tells none."""
    head = _HEAD.decode(line)
    return SavedGroup(
        _unpacked(head.stream),
        _unpacked(head.group),
        EntryId.parse(head.last_delivered_id),
        head.entries_read,
        head.at,
    )


def parse_row(line: bytes) -> SavedRow:
    """The pending row that a line tells; raises ``ValueError`` where it tells none."""
    told = _ROW.decode(line)
    row = PendingEntry(
        EntryId.parse(told.id),
        _unpacked(told.consumer),
        timedelta(seconds=told.idle_seconds),
        told.deliveries,
    )
    return SavedRow(_unpacked(told.stream), _unpacked(told.group), row)


def _packed(name: str) -> _Name:
    try:
        name.encode()
    except UnicodeEncodeError:
        return _Binary(b64encode(name.encode("utf-8", "surrogateescape")).decode())
    return name


def _unpacked(name: _Name) -> str:
    return (
        name
        if isinstance(name, str)
        else b64decode(name.base64, validate=True).decode("utf-8", "surrogateescape")
    )
