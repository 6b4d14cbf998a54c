"""What the scripts that replay are told: which letters, and where they go."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.model.authority import tag_of
from streamops.model.dead_letters import Fields
from streamops.model.entries import EntryId
from streamops.wire.keys import replayed_key
from streamops.wire.lua_values import Value, lua_value

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
        origin_id: The entry's ID in its stream; none where that is not known.
        payload_key: The payload that it refers to; none where it does not.
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
        source: The stream of letters that do not name one; empty where nothing tells.
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
