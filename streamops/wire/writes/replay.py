"""Replaying dead letters: in one script where queue and target share a slot, with markers if they do not."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.model.authority import tag_of
from streamops.model.dead_letters import Fields
from streamops.model.entries import EntryId
from streamops.wire.batches import Request
from streamops.wire.faults import required
from streamops.wire.keys import replayed_key
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, Value, lua_value, write_script
from streamops.wire.server import Server

BATCH: Final = 500
BATCH_BYTES: Final = 1 << 20
"""Dead letters and bytes that one script call moves: 3 to 5 ms on the servers measured."""

FIRST_STEP: Final = 16

PAYLOADS_KEPT: Final = timedelta(days=7)
"""How long the payloads of replayed entries are kept: time enough for another failure, and a look at it."""


class TargetGroups(Struct, frozen=True):
    """A stream and the groups that the plan told it to have.

    Attributes:
        stream: Its name.
        groups: Its groups.
        optional: Whether it need not exist.
        others: Whether it may have other groups.
    """

    stream: str
    groups: tuple[str, ...]
    optional: bool = False
    others: bool = False

    def at(self, number: int) -> Value:
        """The same for a script, the stream by its number."""
        return [number, self.groups, self.optional, self.others]


class ScriptRoute(Struct, frozen=True):
    """Where letters that name a stream and a group go."""

    stream: str
    group: str
    home: str
    key: str
    to_group: str


class ParsedDeadLetter(Struct, frozen=True):
    """A letter that had to be taken apart by us.

    Attributes:
        fields: Its entry's fields.
        origin_id: The entry's ID in its stream; None if that is not known.
        payload_key: The payload that it refers to; None if it does not.
    """

    fields: Fields
    origin_id: EntryId | None
    payload_key: str | None


class DeadLetterBatch(Struct, frozen=True, kw_only=True):
    """Which letters one call moves: a range, or single ones.

    Attributes:
        after: Where the range begins, exclusive.
        last: Where it ends, inclusive.
        count: At most this many.
        ids: Instead of a range: these.
        payloads: Payloads that were seen to.
        taken: Those that had to be taken apart.
    """

    after: EntryId | None = None
    last: EntryId | None = None
    count: int = BATCH
    ids: tuple[EntryId, ...] = ()
    payloads: frozenset[str] = frozenset()
    taken: Mapping[EntryId, ParsedDeadLetter] = {}


class Replayer(Struct, frozen=True, kw_only=True):
    """What is the same for every batch of one replay.

    Attributes:
        queue: The dead-letter queue.
        mode: ``republish``, ``redeliver`` or ``retry``.
        source: The stream of letters that do not name one; empty if nothing says.
        anywhere: Whether the stream that a letter names does not matter.
        ways: Which letters go where, in the queue's own slot.
        told: The streams of these ways.
        edits: Values to put in.
        sources: The streams beside which payloads of letters may lie.
        guarded: Whether the queue is none by its name: then no group may miss what is taken out of it.
    """

    queue: str
    mode: str
    source: str
    anywhere: bool
    ways: tuple[ScriptRoute, ...]
    told: tuple[TargetGroups, ...]
    edits: Fields = ()
    sources: tuple[str, ...] = ()
    guarded: bool = False


def call_arguments(replayer: Replayer, letters: DeadLetterBatch) -> tuple[tuple[str, ...], bytes]:
    """The keys after the queue, and the argument, of one call of ``replay.lua``."""
    keys = _Keys(replayer.queue)
    how = _how(replayer, keys) | _which(letters)
    return keys.more, lua_value(how)


class _Keys:
    """The keys of one call, each once, by their numbers in Lua."""

    def __init__(self, first: str) -> None:
        self._numbers = {first: 1}

    @property
    def more(self) -> tuple[str, ...]:
        return tuple(self._numbers)[1:]

    def number(self, key: str) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)


def _how(replayer: Replayer, keys: _Keys) -> dict[str, Value]:
    routes: dict[str, Value] = {
        f"{way.stream}\0{way.group}": [
            keys.number(way.home),
            keys.number(way.key),
            way.to_group,
            keys.number(replayed_key(way.home)),
        ]
        for way in replayer.ways
    }
    return {
        "mode": replayer.mode,
        "source": replayer.source,
        "anywhere": replayer.anywhere,
        "routes": routes,
        "groups": [told.at(keys.number(told.stream)) for told in replayer.told],
        "edits": replayer.edits,
        "guarded": replayer.guarded,
        "tags": list(map(tag_of, replayer.sources)),
    }


def _which(letters: DeadLetterBatch) -> dict[str, Value]:
    which: dict[str, Value] = {
        "bytes": BATCH_BYTES,
        "payloads": dict.fromkeys(letters.payloads, 1),
        "shipped": {
            str(one): [
                str(taken.origin_id) if taken.origin_id else False,
                [part for pair in taken.fields for part in pair],
                taken.payload_key or False,
            ]
            for one, taken in letters.taken.items()
        },
    }
    if letters.ids:
        return which | {"ids": list(map(str, letters.ids))}
    return which | {
        "after": str(letters.after),
        "last": str(letters.last),
        "count": letters.count,
        "step": min(FIRST_STEP, letters.count),
    }


MARKERS_KEPT: Final = 7 * 24 * 3600 * 1000
"""Milliseconds for which the marker of a move between slots is kept."""


class ReplayReply(Struct, frozen=True):
    """What one call did.

    Attributes:
        last_id: The last letter that was dealt with; None if there was none.
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
        letters: The fields of each, flat; or its ID in the stream, if it is redelivered.
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
    """Raises ``StalePlan`` if dead letters up to an ID may not be taken out, because a group would miss one."""
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
