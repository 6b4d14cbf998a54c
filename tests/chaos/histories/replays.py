"""Histories of dead letters: operators who replay them and are killed, a consumer that fails, and a ledger.

One thing happens at a time, in an order that a seed decides: every batch that an operator sends waits for its
turn, may be lost with its sender before or after the server has done it, and may reach the server twice.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

import pytest

from streamops.errors import Forbidden, StreamopsError
from streamops.model.acting import Confirmation
from streamops.model.entries import EntryId
from streamops.operations.console import Console
from streamops.operations.replay import run as replay
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.wire.batches import Answers, Listen, Request
from streamops.wire.options import ConnectionOptions
from streamops.wire.writes.jobs import job_key
from tests.support.deployments import RunningCluster
from tests.support.monitor.dead_letters import add_letter, make_group, node_of
from tests.support.servers import RunningServer

Place = RunningServer | RunningCluster
LETTERS = 9
GROUP = "billing"
IDLE = 1_000_000


class KilledError(BaseException):
    """The process is gone: nothing of it says any last word."""


class Turns:
    """Actors that wait for their turn."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._waiting: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        """Wait until nobody else does anything."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        await turn

    async def play(self, actors: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Let actors act in turns until all have ended."""
        tasks = {asyncio.create_task(actor) for actor in actors}
        alive = set(tasks)
        while alive:
            while len(self._waiting) < len(alive):
                await asyncio.sleep(0)
                alive = {task for task in alive if not task.done()}
            if not self._waiting:
                break
            self._waiting.pop(self._rng.randrange(len(self._waiting))).set_result(None)
            await asyncio.sleep(0)
        for task in tasks:
            task.result()


class History:
    """One history.

    Attributes:
        done: How often each entry was worked on to its end.
    """

    def __init__(self, place: Place, seed: int, mode: ReplayMode, *, target: str, queue: str) -> None:
        self.place = place
        self.rng = random.Random(seed)
        self.turns = Turns(self.rng)
        self.mode, self.target, self.queue = mode, target, queue
        self.done: Counter[bytes] = Counter()
        self.tokens: list[str] = []
        self.begun = self.calm = False
        self.retries = f"{{{target}}}:retry:{GROUP}"

    @property
    def options(self) -> ConnectionOptions:
        return self.place.options

    def at(self, key: str) -> RunningServer:
        return node_of(self.place, key)

    async def run(self) -> None:
        """Live through it, end all that was begun, and look at the ledger."""
        self.place.flush()
        self.begin()
        await self.turns.play([self.operator(), self.operator(), self.consumer(12)])
        self.calm = True
        for token in self.tokens:
            await self.turns.play([self.resume(token)])
        await self.turns.play([self.start({})])
        if self.mode is ReplayMode.REDELIVER:
            # What cannot be given back, because its entry is gone, is added anew.
            self.mode = ReplayMode.RETRY
            await self.turns.play([self.start({})])
        self.work(fails=False)
        assert self.at(self.queue).command("XLEN", self.queue) == 0
        assert self.done == Counter(str(number).encode() for number in range(LETTERS))

    def begin(self) -> None:
        """Entries that died, as the group's own stream and the queue show it."""
        make_group(self.at(self.target), self.target)
        for number in range(LETTERS):
            self.at(self.target).command("XADD", self.target, "*", "n", number)
        self.read(self.target, fails=True)
        self.begun = True
        assert not self.done

    # What operators do.

    async def operator(self) -> None:
        for _ in range(self.rng.randint(1, 3)):
            if self.tokens and self.rng.random() < 0.5:
                await self.resume(self.rng.choice(self.tokens))
            else:
                await self.start(self.selection())

    def selection(self) -> dict[str, Any]:
        raw = self.at(self.queue).command("XRANGE", self.queue, "-", "+")
        ids = [EntryId.parse(one) for one, _ in raw]
        some = tuple(one for one in ids if self.rng.random() < 0.5)
        kinds: list[dict[str, Any]] = [
            {},
            {},
            {"count": self.rng.randint(1, LETTERS)},
            {"where": f"to_number(fields.n) > `{self.rng.randint(0, LETTERS)}`"},
            {"ids": some} if some else {},
        ]
        return self.rng.choice(kinds)

    async def start(self, selection: dict[str, Any]) -> None:
        to = self.target if self.mode is ReplayMode.REPUBLISH else None
        intent = ReplayIntent(
            queue=self.queue, mode=self.mode, to=to, foreign_origins=to is None, **selection
        )
        await self.process(lambda console: console.prepare(intent))

    async def resume(self, token: str) -> None:
        # Its owner is gone, and its lease has run out.
        self.at(job_key(token)).command("HSET", job_key(token), "lease_ms", 1)
        await self.process(lambda console: console.prepare_rest(token))

    async def process(self, prepare: Callable[[Console], Awaitable[Any]]) -> None:
        """One process, which may be killed before or after anything that it sends."""
        # Nobody else is where it is while it connects.
        await self.turns.wait()
        async with await Console.open(self.options) as console:
            self.haunt(console)
            try:
                prepared = await prepare(console)
                await console.apply(prepared, Confirmation(yes=True), started=self.tokens.append)
            except KilledError:
                return
            except StreamopsError as error:
                over = isinstance(error, Forbidden) and "is over" in error.message
                if self.calm and not over:
                    raise

    def haunt(self, console: Console) -> None:
        server = console._server
        send = server.batch
        lives = self.rng.randint(1, 25) if self.rng.random() < 0.6 and not self.calm else 0

        async def batch(
            requests: Sequence[Request],
            prelude: Sequence[Any] = (),
            listen: Listen | None = None,
        ) -> Answers:
            nonlocal lives
            await self.turns.wait()
            lives -= 1
            if lives == 0 and self.rng.random() < 0.5:
                raise KilledError
            answers = await send(requests, prelude, listen)
            if not self.calm and self.rng.random() < 0.3 and all(map(_moves, requests)):
                answers = await send(requests, prelude, listen)
            if lives == 0:
                raise KilledError
            return answers

        server.batch = batch  # type: ignore[method-assign]

    # What a consumer does.

    async def consumer(self, times: int) -> None:
        for _ in range(times):
            await self.turns.wait()
            self.work(fails=True)

    def work(self, *, fails: bool) -> None:
        """Read what is new and what was given back; some of it fails and dies again."""
        self.read(self.target, fails=fails)
        server = self.at(self.target)
        for entry in server.command("XAUTOCLAIM", self.target, GROUP, "c", IDLE, "0", "COUNT", 100)[1]:
            self.handle(self.target, entry, fails=fails)
        if self.at(self.retries).command("EXISTS", self.retries):
            self.read(self.retries, fails=fails)

    def read(self, stream: str, *, fails: bool) -> None:
        words = ("GROUP", GROUP, "c", "COUNT", 100, "STREAMS", stream, ">")
        given = self.at(stream).command("XREADGROUP", *words)
        for entry in given[0][1] if given else ():
            self.handle(stream, entry, fails=fails)

    def handle(self, stream: str, entry: Sequence[Any], *, fails: bool) -> None:
        entry_id, fields = entry
        dies = fails and (not self.begun or self.rng.random() < 0.3)
        if dies:
            # As a worker does it: the entry's fields, then what is known of why.
            pairs = list(zip(fields[::2], fields[1::2], strict=True))
            where = entry_id.decode()
            add_letter(self.at(self.queue), pairs, queue=self.queue, origin=self.target, origin_id=where)
        else:
            self.done[fields[1]] += 1
        server = self.at(stream)
        server.command("XACK", stream, GROUP, entry_id)
        if dies and self.mode is ReplayMode.REDELIVER and self.rng.random() < 0.2:
            server.command("XDEL", stream, entry_id)


def _moves(request: Request) -> bool:
    """Whether it is a call of a script that moves letters."""
    return str(request.command[0]).startswith("EVAL") and not request.key.startswith("streamops:")


def hasten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every batch be small, so that much can happen between two of them."""
    monkeypatch.setattr(replay, "BATCH", 2)
    monkeypatch.setattr(replay, "PLACED", 2)


async def play(place: Place, seeds: Iterable[int], queue: str = "{orders}:dlq") -> None:
    """Histories in small batches, the ways of replaying in turn."""
    modes = list(ReplayMode)
    with pytest.MonkeyPatch.context() as patched:
        hasten(patched)
        for seed in seeds:
            await History(place, seed, modes[seed % len(modes)], target="orders", queue=queue).run()
