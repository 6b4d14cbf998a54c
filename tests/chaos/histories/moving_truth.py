"""What a stream and its groups were at every instant of a collection, while others change them between its batches."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from random import Random
from typing import Any

from msgspec import Struct

from streamops.model.entries import EntryId, id_age
from streamops.model.streams import ConsumerGroup, Snapshot, StreamState
from streamops.monitor.collect import Collector
from streamops.monitor.counting import CountBudget
from streamops.monitor.watch import Watch
from streamops.wire.batches import Answers, Listen, Request
from streamops.wire.node import Command
from streamops.wire.server import Server
from tests.chaos.histories.truth import STINGY
from tests.support.servers import RunningServer

STREAM = "moving"
GROUPS = ("g1", "g2")
CONSUMERS = ("c1", "c2")
FIRST_MS = 1_700_000_000_000


class GroupTruth(Struct, frozen=True):
    """A group at one instant.

    Attributes:
        position: Its position.
        pending: IDs of its pending entries.
        members: How many entries each of its consumers has pending.
        waiting: IDs of the entries that it is still to be given.
    """

    position: EntryId
    pending: tuple[EntryId, ...]
    members: tuple[tuple[str, int], ...]
    waiting: tuple[EntryId, ...]


class Instant(Struct, frozen=True):
    """The stream at one instant.

    Attributes:
        ids: Its entries.
        groups: Its groups by name.
        birth: How many streams there were under this name.
    """

    ids: tuple[EntryId, ...]
    groups: dict[str, GroupTruth]
    birth: int = 0


class Life:
    """One stream to which things happen.

    Attributes:
        instants: What it was, from the last look on; none where it was not there.
    """

    def __init__(self, running: RunningServer, random: Random) -> None:
        self.random = random
        self.instants: list[Instant | None] = []
        self._running = running
        self._last = EntryId(FIRST_MS, 0)
        self._births = 0
        running.flush()
        self._begin()

    def look(self) -> None:
        """Remember only what is from now on."""
        self.instants = [self._now()]

    def live(self, steps: int) -> None:
        """Let random things happen."""
        usual = (self._add, self._read, self._read, self._ack)
        unusual = (self._trim, self._delete, self._delete_last, self._rewind, self._forget, self._destroy)
        for _ in range(steps):
            chance = self.random.random()
            doings = usual if chance < 0.65 else unusual if chance < 0.97 else (self._begin,)
            self.random.choice(doings)()
            self.instants.append(self._now())

    def _begin(self) -> None:
        """Another stream under the same name."""
        self._do("DEL", STREAM)
        self._births += 1
        if self.random.random() < 0.3:
            self._last = EntryId(FIRST_MS + self.random.randint(0, 50), 0)
        self._add()
        for group in GROUPS:
            self._do("XGROUP", "CREATE", STREAM, group, self._place())

    def _add(self) -> None:
        for _ in range(self.random.randint(1, 6)):
            self._last = EntryId(self._last.ms + self.random.randint(1, 5), 0)
            self._do("XADD", STREAM, str(self._last), "f", "v")

    def _read(self) -> None:
        words = ("COUNT", self.random.randint(1, 8), "STREAMS", STREAM, ">")
        self._try("XREADGROUP", "GROUP", self._group(), self.random.choice(CONSUMERS), *words)

    def _ack(self) -> None:
        group = self._group()
        rows = self._try("XPENDING", STREAM, group, "-", "+", 5)
        if rows:
            self._do("XACK", STREAM, group, *(row[0] for row in rows))

    def _trim(self) -> None:
        self._do("XTRIM", STREAM, "MAXLEN", self.random.randint(0, 8))

    def _delete(self) -> None:
        if ids := self._ids():
            self._do("XDEL", STREAM, str(self.random.choice(ids)))

    def _delete_last(self) -> None:
        if ids := self._ids():
            self._do("XDEL", STREAM, *map(str, ids[-self.random.randint(1, 4) :]))

    def _rewind(self) -> None:
        self._try("XGROUP", "SETID", STREAM, self._group(), self._place())

    def _forget(self) -> None:
        self._try("XGROUP", "DELCONSUMER", STREAM, self._group(), self.random.choice(CONSUMERS))

    def _destroy(self) -> None:
        group = self._group()
        self._do("XGROUP", "DESTROY", STREAM, group)
        if self.random.random() < 0.7:
            self._do("XGROUP", "CREATE", STREAM, group, self._place())

    def _place(self) -> str:
        return str(self.random.choice(["0", "$", *self._ids()]))

    def _group(self) -> str:
        return self.random.choice(GROUPS)

    def _ids(self) -> list[EntryId]:
        return [EntryId.parse(row[0]) for row in self._do("XRANGE", STREAM, "-", "+")]

    def _now(self) -> Instant | None:
        if not self._do("EXISTS", STREAM):
            return None
        ids = tuple(self._ids())
        rows = [_named(row) for row in self._do("XINFO", "GROUPS", STREAM)]
        return Instant(ids, {row[b"name"].decode(): self._truth(row, ids) for row in rows}, self._births)

    def _truth(self, row: dict[bytes, Any], ids: tuple[EntryId, ...]) -> GroupTruth:
        position = EntryId.parse(row[b"last-delivered-id"])
        pending = self._do("XPENDING", STREAM, row[b"name"], "-", "+", 100_000)
        members = [_named(one) for one in self._do("XINFO", "CONSUMERS", STREAM, row[b"name"])]
        return GroupTruth(
            position,
            tuple(EntryId.parse(one[0]) for one in pending),
            tuple(sorted((one[b"name"].decode(), one[b"pending"]) for one in members)),
            tuple(one for one in ids if one > position),
        )

    def _do(self, *words: str | bytes | int) -> Any:  # noqa: ANN401 - a raw reply
        return self._running.command(*words)

    def _try(self, *words: str | bytes | int) -> Any:  # noqa: ANN401 - a raw reply
        """The same where the group may not be there."""
        groups = self._do("XINFO", "GROUPS", STREAM)
        names = {_named(row)[b"name"] for row in groups}
        return self._do(*words) if names & {word.encode() for word in words if isinstance(word, str)} else ()


class LivelyServer(Server):
    """A server where things happen before each batch but the first.

    Attributes:
        life: What happens; none for nothing.
    """

    life: Life | None = None
    begun = False

    async def batch(
        self,
        requests: Sequence[Request],
        prelude: Sequence[Command] = (),
        listen: Listen | None = None,
    ) -> Answers:
        if self.life is not None and self.begun and requests:
            self.life.live(self.life.random.choice([0, 0, 1, 2, 3]))
        self.begun = True
        return await super().batch(requests, prelude, listen)


async def play_one(running: RunningServer, seed: int, *, deep: bool, stingy: bool, rounds: int = 25) -> None:
    """One history."""
    random = Random(seed)
    server = LivelyServer(running.options)
    try:
        collector = Collector(server, Watch(deep=deep), STINGY if stingy else CountBudget())
        life = Life(running, random)
        for number in range(rounds):
            # Once in a while nothing happens meanwhile: then all of it is what is so now.
            server.life = life if number % 3 else None
            life.live(random.choice([0, 1, 1, 4]))
            life.look()
            server.begun = False
            snapshot = await collector.collect([STREAM], discovered=1, complete=True)
            check(snapshot, life.instants)
            check_exact_lags(snapshot, life.instants)
    finally:
        await server.close()


def check(snapshot: Snapshot, instants: Sequence[Instant | None]) -> None:
    """Hold what a collection says against what was so while it lasted."""
    there = [one for one in instants if one is not None]
    if not snapshot.streams:
        assert None in instants
        return
    (stream,) = snapshot.streams
    lefts = [set(one.ids if one else ()) for one in instants]
    assert stream.length in {len(one.ids) for one in there}
    for group in stream.groups:
        truths = [one.groups[group.name] for one in there if group.name in one.groups]
        assert truths, f"there was no {group.name}"
        check_lag(stream, group, truths, lefts)
        check_time_lag(group, truths, lefts, snapshot)
        check_pending(group, truths)


def check_exact_lags(snapshot: Snapshot, instants: Sequence[Instant | None]) -> None:
    """Hold what is called exact against every instant there was: it was so at one of them.

    Where another stream came under the same name meanwhile, nobody can tell by lengths.
    """
    if len({one.birth for one in instants if one is not None}) > 1:
        return
    for stream in snapshot.streams:
        for group in stream.groups:
            there = [one.groups[group.name] for one in instants if one and group.name in one.groups]
            waited = [len(one.waiting) for one in there]
            assert not group.lag.known or group.lag.entries in waited, f"{group.lag} where {waited} were so"


def check_lag(
    stream: StreamState, group: ConsumerGroup, truths: Sequence[GroupTruth], lefts: Sequence[set[EntryId]]
) -> None:
    """What is called exact is not beyond what was so, and the bounds hold something that was."""
    lag, lags = group.lag, [len(one.waiting) for one in truths]
    # What was removed before it was counted is not counted.
    least = min(*lags, *(len(set(one.waiting) & left) for one in truths for left in lefts))
    told = f"{lag} where {lags} were so, of which {least} stayed"
    assert lag.lower is not None, told
    assert lag.upper is not None, told
    assert lag.lower <= max(lags), told
    assert lag.upper >= least, told
    assert lag.upper <= max(stream.length, *lags), told
    if lag.known:
        assert lag.lower == lag.entries == lag.upper, told
    if lag.entries is not None:
        assert lag.lower <= lag.entries <= lag.upper, told


def check_time_lag(
    group: ConsumerGroup, truths: Sequence[GroupTruth], lefts: Sequence[set[EntryId]], snapshot: Snapshot
) -> None:
    """The entry that is said to wait for longest did so, after some position, at some instant."""
    age = group.time_lag.age
    if age is None:
        return
    waiting = [one.waiting for one in truths]
    if any(stream.last_id is None for stream in snapshot.streams):
        # The position and the entry after it are read one after the other.
        waiting += [
            tuple(sorted(entry for entry in left if entry > one.position)) for one in truths for left in lefts
        ]
    heads = [id_age(one[0], snapshot.collected_at) if one else timedelta(0) for one in waiting]
    assert age in heads, f"{age} where {heads} were so"


def check_pending(group: ConsumerGroup, truths: Sequence[GroupTruth]) -> None:
    """Pending entries and consumers are what they were at some instant."""
    assert group.pending in {len(one.pending) for one in truths}
    oldest = group.oldest_pending.id if group.oldest_pending else None
    assert oldest in {one.pending[0] if one.pending else None for one in truths}
    assert group.consumers in {len(one.members) for one in truths}
    if group.members is not None:
        told = tuple(sorted((one.name, one.pending) for one in group.members))
        assert told in {one.members for one in truths}, told


def _named(row: Sequence[Any]) -> dict[bytes, Any]:
    return dict(zip(row[::2], row[1::2], strict=True))


async def play(running: RunningServer, seeds: Iterable[int]) -> None:
    """Histories, read by script and in full."""
    for seed in seeds:
        for deep in (False, True):
            try:
                await play_one(running, seed, deep=deep, stingy=not seed % 3)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error
