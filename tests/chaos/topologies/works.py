"""What goes on while a fault strikes: a replay, a safe trim, a claim. Each keeps books, and is audited by them."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, Protocol

from msgspec.structs import replace

from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.replay.intent import ReplayIntent
from streamops.operations.trim.intent import TrimIntent
from tests.chaos.topologies.operators import RunningOperation
from tests.chaos.topologies.outcome import Account
from tests.chaos.topologies.place import Place
from tests.chaos.topologies.reading import Reading, parsed, read_stream
from tests.support.servers import RunningServer

UNITS: Final = 300
RATE: Final = 120
GROUP: Final = "billing"
UNREPLICATED: Final = "unreplicated failover"
FORGOTTEN: Final = "replay forgotten by a failover"

Act = Callable[[RunningOperation], Awaitable[None]]
"""Sees a deed through, whatever comes between."""

Survived = Mapping[str, Reading]
"""What the replica that takes over has of each stream; empty where nothing can be lost."""


class Work(Protocol):
    """Something that goes on while a fault strikes.

    Attributes:
        name: What it is called in the books.
        keys: The streams that tell what survived.
    """

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def keys(self) -> Sequence[str]:
        """The streams."""

    def prepare(self) -> None:
        """Write down what there is, and put it there."""

    async def act(self) -> None:
        """Go on until it is done."""

    async def mend(self) -> None:
        """Do again what was done, and was forgotten by whoever took over."""

    def has_begun(self) -> bool:
        """Whether some of it is done."""

    def audit(self, survived: Survived) -> Account:
        """Compare the books with what there is now."""


class Replay:
    """A replay of dead letters, to a stream of their own slot or of another node's.

    Attributes:
        name, keys: See ``Work``.
    """

    def __init__(self, place: Place, act: Act, stream: str, queue: str = "") -> None:
        """Plan it.

        Args:
            place: Where.
            act: Sees a deed through.
            stream: Where the letters go.
            queue: Where they are; beside the stream unless given.
        """
        self.name = "replay between slots" if queue else "replay"
        self._place, self._act = place, act
        self._stream, self._queue = stream, queue or f"{{{stream}}}:dlq"
        self.keys = (self._stream, self._queue)
        self._deed = RunningOperation(
            ("replay", self._queue), ReplayIntent(queue=self._queue, foreign_origins=bool(queue))
        )
        self._back = 0

    def prepare(self) -> None:
        """Letters, and a group for their entries."""
        primary = self._place.primary_of(self._stream)
        primary.command("XGROUP", "CREATE", self._stream, GROUP, "$", "MKSTREAM")
        told = ("_so_origin", self._stream, "_so_group", GROUP, "_so_reason", "rejected")
        add_many(self._place.primary_of(self._queue), self._queue, UNITS, told)

    async def act(self) -> None:
        """Replay, and resume what was interrupted."""
        await self._act(replace(self._deed, rate=RATE))

    async def mend(self) -> None:
        """Replay the letters that are back after the end of it."""
        self._back = self._place.primary_of(self._queue).command("XLEN", self._queue)
        if self._back:
            await self._act(self._deed)

    def has_begun(self) -> bool:
        """Whether some of them arrived."""
        return bool(self._place.primary_of(self._stream).command("XLEN", self._stream))

    def audit(self, survived: Survived) -> Account:
        """Each is in the stream once; none is left."""
        there = Counter(self._numbers(self._stream))
        left = self._numbers(self._queue)
        twice = [number for number, times in there.items() if times > 1]
        gone = {*numbers(UNITS)} - {*there} - {*left}
        # Between slots: handed on, and out of the queue, on two nodes; one of them forgot.
        taken = {one for one in gone if survived and one not in self._surviving(survived)}
        problems = [
            *_problem("came twice", twice),
            *_problem("is left in the queue", left),
            *_problem("is lost", gone - taken),
        ]
        if self._back and not survived:
            problems.append(f"{self._back}: was left in the queue, and nothing was forgotten")
        return Account(
            entries=UNITS,
            handled=len(there),
            destroyed={UNREPLICATED: len(taken)},
            repeated={FORGOTTEN: self._back},
            problems=tuple(problems),
        )

    def _surviving(self, survived: Survived) -> set[str]:
        return {number for key in self.keys if key in survived for number in survived[key].values("n")}

    def _numbers(self, key: str) -> list[str]:
        return read_stream(self._place.primary_of(key), key).values("n")


class Trim:
    """A safe trim, while others publish: a group has acknowledged the first half, has some in hand, and lacks the rest.

    Attributes:
        name, keys: See ``Work``.
    """

    name = "trim"

    def __init__(self, place: Place, act: Act, stream: str) -> None:
        self._place, self._act, self._stream = place, act, stream
        self.keys = (stream,)
        words = ("trim", stream, "--maxlen", "0", "--exact")
        self._deed = RunningOperation(words, TrimIntent(stream=stream, maxlen=0, exact=True))
        self._ids: list[str] = []

    def prepare(self) -> None:
        """Entries of which the first half is free to go."""
        primary, stream = self._place.primary_of(self._stream), self._stream
        self._ids = add_many(primary, stream, 2 * UNITS)
        primary.command("XGROUP", "CREATE", stream, GROUP, "0")
        for _ in range(2):
            primary.command(
                "XREADGROUP", "GROUP", GROUP, "w", "COUNT", 3 * UNITS // 4, "STREAMS", stream, ">"
            )
        primary.command("XACK", stream, GROUP, *self._ids[:UNITS])

    async def act(self) -> None:
        """Trim, until nothing is left that may go."""
        await self._act(replace(self._deed, rate=RATE))

    async def mend(self) -> None:
        """Trim what is back."""
        if self._length() > len(self._ids) - UNITS:
            await self._act(self._deed)

    def has_begun(self) -> bool:
        """Whether some went."""
        return self._length() < len(self._ids)

    def _length(self) -> int:
        length: int = self._place.primary_of(self._stream).command("XLEN", self._stream)
        return length

    def audit(self, survived: Survived) -> Account:  # noqa: ARG002 - what may go had been replicated before
        """All that is needed is there, and nothing else."""
        found = read_stream(self._place.primary_of(self._stream), self._stream)
        needed, free = self._ids[UNITS:], self._ids[:UNITS]
        pending = set(self._ids[UNITS : 3 * UNITS // 2])
        problems = [
            *_problem("was dropped, and a group needs it", {*needed} - found.entries.keys()),
            *_problem("is still there, and nobody needs it", {*free} & found.entries.keys()),
            *_problem("is pending no more", pending - found.groups[GROUP].pending.keys()),
        ]
        return Account(
            entries=len(self._ids), handled=len(self._ids) - len(problems), problems=tuple(problems)
        )


class Claim:
    """A claim of what a dead consumer has pending.

    Attributes:
        name, keys: See ``Work``.
    """

    name = "claim"

    def __init__(self, place: Place, act: Act, stream: str) -> None:
        self._place, self._act, self._stream = place, act, stream
        self.keys = (stream,)
        words = ("claim", stream, GROUP, "--to", "living", "--min-idle", "0")
        intent = ClaimIntent(stream=stream, group=GROUP, to="living", min_idle=timedelta(0))
        self._deed = RunningOperation(words, intent)
        self._ids: list[str] = []

    def prepare(self) -> None:
        """Entries that somebody has read."""
        primary, stream = self._place.primary_of(self._stream), self._stream
        self._ids = add_many(primary, stream, UNITS)
        primary.command("XGROUP", "CREATE", stream, GROUP, "0")
        primary.command("XREADGROUP", "GROUP", GROUP, "dead", "STREAMS", stream, ">")

    async def act(self) -> None:
        """Claim, until nobody else has any."""
        await self._act(replace(self._deed, rate=RATE))

    async def mend(self) -> None:
        """Claim what its old owner has again."""
        if self._owners() != {b"living"}:
            await self._act(self._deed)

    def has_begun(self) -> bool:
        """Whether some have changed hands."""
        return b"living" in self._owners()

    def _owners(self) -> set[bytes]:
        rows = self._place.primary_of(self._stream).command("XPENDING", self._stream, GROUP)[3]
        return {name for name, _ in rows or ()}

    def audit(self, survived: Survived) -> Account:  # noqa: ARG002 - they had been replicated before
        """All are pending, with their new owner."""
        found = read_stream(self._place.primary_of(self._stream), self._stream)
        pending = found.groups[GROUP].pending
        others = [one for one, owner in pending.items() if owner != "living"]
        problems = [
            *_problem("is pending no more", {*self._ids} - pending.keys()),
            *_problem("has its old owner", others),
            *_problem("is not in the stream any more", {*self._ids} - found.entries.keys()),
        ]
        return Account(entries=UNITS, handled=UNITS - len(problems), problems=tuple(problems))


def numbers(count: int) -> list[str]:
    """The numbers that entries carry."""
    return [str(number) for number in range(count)]


def add_many(server: RunningServer, stream: str, count: int, more: Sequence[str] = ()) -> list[str]:
    """Add entries that carry numbers; their IDs."""
    pipeline = server.client.pipeline(transaction=False)
    for number in numbers(count):
        pipeline.execute_command("XADD", stream, "*", "n", number, *more)  # type: ignore[no-untyped-call]
    return sorted((one.decode() for one in pipeline.execute()), key=parsed)


def _problem(what: str, those: Iterable[str]) -> list[str]:
    """One line of what is wrong with some of them; none where there are none."""
    named = sorted(those)
    return [f"{len(named)}: {what}: {', '.join(named[:5])}"] if named else []
