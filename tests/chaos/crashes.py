"""One process that crashes at a chosen step, and what becomes of its work: hundreds of runs, side by side, on one server.

Each run has a stream of its own, a publisher that may crash too, and one to three workers after another, of which the
last one lives. Their application does with entries what these say, and keeps books in memory.
"""

import asyncio
import time
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import ServerError, StreamopsError
from streamops.runtime import Streamops, WorkerOptions
from streamops.wire.options import ConnectionOptions
from tests.chaos.audit import Audit
from tests.chaos.crashing import GROUP, LEASE, MOST, STEPS, application, output_of, publishes
from tests.chaos.haunting import Fate, Ghost, haunted
from tests.chaos.ledger import Fault, Line, Published, Word
from tests.chaos.looking import Instant, instant, letters
from tests.chaos.numbers import Onlooker
from tests.support.servers import RunningServer

GLANCE = 0.02
LOOKS = 0.1
"""How often, of all glances, a console looks on."""
GRACE = timedelta(seconds=2)
BEAT = timedelta(seconds=0.1)
ENDS_WITHIN = 60.0
KINDS = ("ok", "ok", "ok", "fail", "bad", "reject", "uncounted", "kept", "delayed")
TOLD_TWICE = 0.15
PUBLISHERS_DIE = 0.4
REFUSALS = 60
"""How often a publisher tries anew at most."""


class Crash(Struct):
    """What became of a run.

    Attributes:
        met: At which steps something happened, and what.
        lines: What handlers wrote.
        published: What was confirmed, by its business key: what its handler does.
        problems: What was wrong.
        audit: The audit.
        faults: What was done.
        recovery: Seconds from the last crash until all was done.
        readings: Numbers of a console that were held against the truth, by their basis.
        wrong: How many were wrong.
    """

    met: list[str] = []
    lines: list[Line] = []
    published: dict[str, str] = {}
    problems: list[str] = []
    audit: Audit | None = None
    faults: list[Fault] = []
    recovery: float | None = None
    readings: dict[str, int] = {}
    wrong: int = 0


class Run:
    """One run."""

    def __init__(self, server: RunningServer, seed: int) -> None:
        self.crash = Crash()
        self._server = server
        self._random = Random(f"{server.label} {seed}")
        self._seed = seed
        self._stream = f"c{seed}"
        self._name = f"{server.port}/{seed}"
        self._lives = 0
        self._crashed_at = 0.0
        self._published_all = False

    @property
    def keys(self) -> dict[str, str]:
        """The keys beside the stream."""
        beside = f"{{{self._stream}}}:"
        return {
            "retries": f"{beside}retry:{GROUP}",
            "delayed": f"{beside}delayed",
            "letters": f"{beside}dlq",
        }

    async def play(self) -> Crash:
        """Let it happen, and audit it."""
        seed = self._seed
        doomed = self._random.choice((1, 1, 2))
        fates = [
            Fate.of_worker(seed if not number else seed * 7 + 1, self._random) for number in range(doomed)
        ]
        onlooker = Onlooker(self._options("onlooker"), lambda: self._server, self._stream)
        async with asyncio.timeout(ENDS_WITHIN), onlooker:
            publishing = asyncio.create_task(self._publish())
            try:
                for fate in fates:
                    await self._live(fate, onlooker)
                await publishing
                await self._live(None, onlooker)
            finally:
                publishing.cancel()
                await asyncio.gather(publishing, return_exceptions=True)
            await onlooker.look()
        if self._crashed_at:
            last = max((line.time for line in self.crash.lines), default=0.0)
            self.crash.recovery = max(0.0, last - self._crashed_at)
        self.crash.readings, self.crash.wrong = dict(onlooker.readings), len(onlooker.wrong)
        self.crash.problems += onlooker.wrong
        self._audit()
        return self.crash

    # What workers do.

    async def _live(self, fate: Fate | None, onlooker: Onlooker) -> None:
        """One worker from its start to its end, whichever that is."""
        self._lives += 1
        label = f"{self._name}/{self._lives}"
        born = time.monotonic()
        with haunted(label, fate) as ghost:
            app = application(
                self._stream, self._options(ghost.label), ghost, self._random, (self._lives, self.crash.lines)
            )
            worker = app.worker(WorkerOptions(beat=BEAT, grace=GRACE))
            work = asyncio.create_task(worker.run())
            try:
                if await self._outlives(ghost, work, onlooker, lives_on=fate is None):
                    worker.stop()
                    await _first(work, ghost)
            finally:
                work.cancel()
                with suppress(asyncio.CancelledError, ServerError):
                    await work
                await ghost.close()
            self._note(ghost, born)

    async def _outlives(
        self, ghost: Ghost, work: "asyncio.Task[None]", onlooker: Onlooker, *, lives_on: bool
    ) -> bool:
        """Wait for its death, or for the end of all work, and tell which; some are to stop before."""
        stops = self._random.choice((None, None, time.monotonic() + self._random.uniform(0, 0.2)))
        while not work.done() and not ghost.dead:
            with suppress(TimeoutError):
                async with asyncio.timeout(GLANCE):
                    await ghost.ended.wait()
            if self._random.random() < LOOKS:
                await onlooker.look()
            told = not lives_on and stops is not None and time.monotonic() > stops
            if told or (self._published_all and self._is_idle()):
                return True
        return False

    def _note(self, ghost: Ghost, born: float) -> None:
        """Note its fate: nothing that it did in its short life need have been acknowledged."""
        if not ghost.met or ghost.fate is None:
            return
        now = self._crashed_at = time.monotonic()
        self.crash.met.append(f"{ghost.met}: {ghost.fate.way}")
        self.crash.faults.append(Fault("death" if ghost.dead else "cut", born, now, self._lives))

    # What is published.

    async def _publish(self) -> None:
        """Each with its key, until it is confirmed: by a publisher that may crash, and others after it."""
        fate = Fate.of_publisher(self._random) if self._random.random() < PUBLISHERS_DIE else None
        left = [(self._random.choice(KINDS), f"o{number}") for number in range(self._random.randint(4, 12))]
        # Some are about the same thing.
        left += [one for one in left if self._random.random() < TOLD_TWICE]
        for life in range(REFUSALS):
            with haunted(f"{self._name}/p{life}", fate if not life else None) as ghost:
                with suppress(StreamopsError):
                    async with Streamops(self._options(ghost.label)).publisher() as publisher:
                        while left:
                            await self._publish_one(publisher, *left[0])
                            left.pop(0)
                await ghost.close()
                if ghost.met and ghost.fate is not None:
                    self.crash.met.append(f"{ghost.met}: {ghost.fate.way}")
            if not left:
                break
        self._published_all = True

    async def _publish_one(self, publisher: Any, do: str, key: str) -> None:  # noqa: ANN401 - streamops's own
        body = {"do": do, "order": key}
        if do == "delayed":
            await publisher.publish(self._stream, body, delay=0.03)
        elif do == "kept":
            await publisher.publish(self._stream, body, payload=b"x" * 100)
        else:
            await publisher.publish(self._stream, body)
        self.crash.published[key] = do
        if self._random.random() < 0.3:
            await asyncio.sleep(0.01)

    # What is so in the end.

    def _instants(self) -> tuple[Instant | None, Instant | None]:
        return (
            instant(self._server, self._stream, GROUP),
            instant(self._server, self.keys["retries"], GROUP),
        )

    def _is_idle(self) -> bool:
        stream, retries = self._instants()
        if (
            stream is None
            or stream.unread
            or stream.pending
            or (retries and (retries.ids or retries.pending))
        ):
            return False
        return not self._server.command("ZCARD", self.keys["delayed"])

    def _audit(self) -> None:
        crash = self.crash
        done = {line.key for line in crash.lines if line.word is Word.DONE}
        told = letters(self._server, self.keys["letters"])
        settled = done | {letter.key for letter in told}
        crash.problems += [f"lost: {key} ({do})" for key, do in crash.published.items() if key not in settled]
        crash.problems += self._twice() + self._leftovers()
        crash.problems += self._messages(done, {letter.key for letter in told})
        entries = self._server.command("XRANGE", self._stream, "-", "+")
        published: dict[str, Published] = {}
        for entry, fields in entries:
            pairs = dict(zip(fields[::2], fields[1::2], strict=True))
            published[entry.decode()] = Published(pairs[b"do"].decode(), pairs[b"order"].decode())
        crash.lines += [
            Line(0.0, Word.STEP, 0, former.name, state.name) for former, state in STEPS.pop(self._stream, ())
        ]
        crash.audit = Audit(published, crash.lines, crash.faults, told, guarded=True, most=MOST, lease=LEASE)
        crash.problems += crash.audit.problems
        for key in self._server.command("KEYS", f"*{self._stream}}}:*"):
            self._server.command("DEL", key)
        self._server.command("DEL", self._stream)

    def _twice(self) -> list[str]:
        """Business keys that were completed for more than one entry."""
        origins: dict[str, set[str]] = {}
        for line in self.crash.lines:
            if line.word is Word.DONE:
                origins.setdefault(line.key, set()).add(line.origin)
        return [f"an effect twice: {key} {sorted(of)}" for key, of in origins.items() if len(of) > 1]

    def _messages(self, done: set[str], given_up: set[str]) -> list[str]:
        """What was published with acknowledgements: once for what was done, and nothing else."""
        rows = self._server.command("XRANGE", output_of(self._stream), "-", "+")
        published = Counter(fields[1].decode() for _, fields in rows)
        twice = [f"published twice: {key}" for key, count in published.items() if count > 1]
        unacknowledged = [f"published and not done: {key}" for key in published.keys() - done]
        done_alone = {key for key in done - given_up if publishes(key)}
        return [
            *twice,
            *unacknowledged,
            *(f"done and not published: {key}" for key in done_alone - published.keys()),
        ]

    def _leftovers(self) -> list[str]:
        found = {key.decode() for key in self._server.command("KEYS", f"{{{self._stream}}}:*")}
        kept = (":dlq", ":out", f":retry:{GROUP}")
        strays = [key for key in found if not key.endswith(kept) and ":done:" not in key]
        return [f"a key is left: {key} {self._server.command('TYPE', key)}" for key in sorted(strays)]

    def _options(self, label: str) -> ConnectionOptions:
        return replace(self._server.options, label=label, timeout=timedelta(seconds=2))


async def _first(work: "asyncio.Task[None]", ghost: Ghost) -> None:
    """Wait until a worker has ended, or is dead."""
    dying = asyncio.create_task(ghost.ended.wait())
    await asyncio.wait([work, dying], return_when=asyncio.FIRST_COMPLETED)
    dying.cancel()


def steps_met(crashes: list[Crash]) -> Counter[str]:
    """At which steps how often something happened."""
    return Counter(step for crash in crashes for step in crash.met)
