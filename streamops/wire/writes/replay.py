"""Replaying dead letters: in one script where queue and target share a slot, with markers where they do not."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from streamops.model.entries import EntryId
from streamops.wire.batches import Request
from streamops.wire.faults import required
from streamops.wire.keys import replayed_key
from streamops.wire.lua_values import Value, lua_value
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server
from streamops.wire.writes.replay_arguments import (
    PAYLOADS_KEPT,
    DeadLetterBatch,
    Replayer,
    ScriptRoute,
    call_arguments,
)

MARKERS_KEPT: Final = 7 * 24 * 3600 * 1000
"""Milliseconds for which the marker of a move between slots is kept."""


class ReplayReply(Struct, frozen=True):
    """What one call did.

    Attributes:
        last_id: The last letter that was dealt with; none where there was none.
        seen: How many were.
        ended: Whether all that were asked for were looked at.
        moved: How many were moved.
        left: Those that were left, and why.
        failed: Those that failed, and the error.
        again: Those that have to come again, with the payload that each refers to. A range ends before the first.
    """

    last_id: EntryId | None
    seen: int
    ended: bool
    moved: int
    left: tuple[tuple[str, str], ...]
    failed: tuple[tuple[str, str], ...]
    again: tuple[tuple[EntryId, str], ...]


class DeadLetterMove(Struct, frozen=True):
    """What became of one letter between slots: ``moved``, ``already``, ``left`` or ``failed``, and why."""

    became: str
    why: str


_BECAME: Final = ("already", "moved", "left", "failed")


async def move_dead_letters(server: Server, replayer: Replayer, letters: DeadLetterBatch) -> ReplayReply:
    """Move letters of a queue, each atomically."""
    keys, how = call_arguments(replayer, letters)
    call = Call(replayer.queue, (how,), _moved, keys)
    return await write_script(server, "replay", call, f"queue {replayer.queue}")


async def place_dead_letters(
    server: Server,
    replayer: Replayer,
    way: ScriptRoute,
    markers: Sequence[str],
    letters: Sequence[Sequence[bytes]],
) -> tuple[DeadLetterMove, ...]:
    """Hand on the entries of letters whose queue is in another slot, each once as long as its marker lasts.

    Args:
        server: Where.
        replayer: The replay.
        way: Where they go.
        markers: A key for each.
        letters: The fields of each, flat; or its ID in the stream, where it is redelivered.
    """
    told = next(one for one in replayer.told if one.stream == way.home)
    how: dict[str, Value] = {
        "mode": replayer.mode,
        "group": way.to_group,
        "groups": [told.at(1)],
        "kept": MARKERS_KEPT,
        "letters": letters,
    }
    keys = (way.key, replayed_key(way.home), *markers)
    call = Call(way.home, (lua_value(how),), _placed, keys)
    return await write_script(server, "replay_place", call, f"stream {way.home}")


async def check_unused(server: Server, queue: str, last: EntryId) -> None:
    """Raises ``StalePlan`` where dead letters up to an ID may not be taken out, because a group would miss one."""
    await write_script(server, "dead_letters_unused", Call(queue, (str(last),), int), f"queue {queue}")


async def take_out(server: Server, queue: str, ids: Sequence[EntryId]) -> None:
    """Delete letters from their queue whose entries were handed on."""
    if ids:
        required(await server.single(queue, "XDEL", queue, *map(str, ids)), f"queue {queue}")


async def renew_payloads(server: Server, keys: Sequence[str]) -> dict[str, bool]:
    """Let payloads stay for as long as those of replayed entries do; whether each is there."""
    seconds = int(PAYLOADS_KEPT.total_seconds())
    requests = [Request(key, ("EXPIRE", key, seconds)) for key in keys]
    replies = (await server.batch(requests)).replies if requests else []
    beside = "payloads outside the stream"
    return {key: bool(required(reply, beside)) for key, reply in zip(keys, replies, strict=True)}


def _moved(reply: Reply) -> ReplayReply:
    last, seen, ended, _, moved, left, failed, again = reply
    return ReplayReply(
        EntryId.parse(last) if seen else None,
        seen,
        bool(ended),
        moved,
        _pairs(left),
        _pairs(failed),
        tuple((EntryId.parse(one), decode_name(key)) for one, key in again),
    )


def _placed(reply: Reply) -> tuple[DeadLetterMove, ...]:
    return tuple(
        DeadLetterMove(_BECAME[number], decode_name(why).removeprefix("ERR ")) for number, why in reply
    )


def _pairs(rows: Reply) -> tuple[tuple[str, str], ...]:
    return tuple((decode_name(one), decode_name(why).removeprefix("ERR ")) for one, why in rows)
