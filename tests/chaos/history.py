"""A history: workers at work on what is published, while processes, connections and the server fail at random."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Self

import redis
from msgspec.structs import replace
from redis.exceptions import OutOfMemoryError, ReadOnlyError

from streamops.wire.options import ConnectionOptions
from tests.chaos.audit import Audit
from tests.chaos.dooms import Doom
from tests.chaos.ledger import PROMPT, Fault, FoundDeadLetter, Probe, Published, read, timeline
from tests.chaos.leftovers import leftovers, touched
from tests.chaos.looking import (
    DELAYED,
    FOREIGN,
    RETRIES,
    hearts,
    ids_of,
    is_idle,
    letters,
    pid_of,
    state,
    unsettled,
)
from tests.chaos.member import Member
from tests.chaos.numbers import Onlooker
from tests.chaos.proxy import Proxy
from tests.chaos.stages import Stage
from tests.chaos.worker import EXITED, GROUP, STREAM, UNREACHABLE, Post, start
from tests.support.servers import RunningServer
from tests.support.streams import consumer_names

REFUSALS = (OutOfMemoryError, ReadOnlyError)
"""How a server that is full, or is no primary, refuses an entry."""

HEALS_WITHIN = 60.0
"""Seconds after the last fault until all is done, on a machine that is busy."""

REST = 5
"""How much longer than a look it takes until the next one."""

ENDS_WITHIN = 20.0
ENDS = frozenset({0, EXITED, UNREACHABLE, -signal.SIGKILL, -signal.SIGTERM})
"""How workers end: drained, by a handler that exits, without a server at the start, killed, told to before that."""


class History:
    """One history.

    Attributes:
        faults: What was done, and when.
        harmless: What was done that explains nothing.
        members: The living workers.
        serving: Held by whoever stops the server.
        published: What was confirmed.
        foreign: What another program wrote into the delayed queue, and was confirmed, with its scores.
        excused: What may be missing, with the cause: somebody took it away with his own hands, or a fault did.
        repeatable: What nobody can know any more to have been acknowledged.
        trimmed: What was trimmed while it was pending: it may be missing, and keeps no key from others.
        probes: What was published right after a fault, to see when work goes on.
        losses: How often something was taken away.
        stage: What there is beside the server.
        onlooker: The console that looks on.
        audit: The audit, in the end.
    """

    def __init__(
        self, server: RunningServer, directory: Path, post: Post, *, stage: Stage | None = None
    ) -> None:
        self.faults: list[Fault] = []
        self.members: list[Member] = []
        self.published: dict[str, Published] = {}
        self.foreign: dict[bytes, float] = {}
        self.excused: dict[str, str] = {}
        self.repeatable: set[str] = set()
        self.trimmed: set[str] = set()
        self.probes: dict[str, Probe] = {}
        self.losses = 0
        self.harmless: list[Fault] = []
        self.audit: Audit | None = None
        self.server = server
        self.post = replace(post, ledger=directory / "ledger")
        self._directory = directory
        self._stack = AsyncExitStack()
        self._proxies = 0
        self._striking: dict[asyncio.Task[None] | None, str] = {}
        self._beside: list[Proxy] = []
        self.stage = stage or Stage()
        self.onlooker: Onlooker | None = None
        self.serving = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for member in self.members:
            member.process.kill()
            await asyncio.to_thread(member.process.join)
        await self._stack.aclose()

    async def join(self, doom: Doom | None = None) -> Member:
        """One more worker."""
        proxy, options = await self._connect()
        process = await asyncio.to_thread(start, replace(self.post, options=options, doom=doom))
        member = Member(process, proxy, doomed=doom is not None)
        self.members.append(member)
        return member

    async def watch(self) -> Onlooker:
        """Have a console look on, over a network that does not fail."""
        proxy, options = await self._connect()
        self._beside.append(proxy)
        self.onlooker = Onlooker(options, lambda: self.server)
        return await self._stack.enter_async_context(self.onlooker)

    def move(self, server: RunningServer) -> None:
        """Everybody is led to another server from now on."""
        self.server = server
        for proxy in (*self._beside, *(member.proxy for member in self.members)):
            proxy.lead_to(server.socket_path)

    def bury_the_dead(self) -> int:
        """Count whose processes have ended since the last time."""
        dead = [member for member in self.members if not member.process.is_alive()]
        for member in dead:
            self.members.remove(member)
            assert member.process.exitcode in ENDS, f"a worker ended with {member.process.exitcode}"
            now = time.monotonic()
            self.faults.append(Fault("death", now - 0.2, now, member.pid))
        return len(dead)

    def publish(self, do: str, key: str) -> None:
        """Publish, unless the server is away."""
        with suppress(redis.ConnectionError):
            self._publish(do, key)

    def intrude(self, due_in: float) -> None:
        """Another program adds a member to the delayed queue, unless the server is away or refuses."""
        member = FOREIGN + b"%d" % len(self.foreign)
        score = round((time.time() + due_in) * 1000) + 0.25  # noqa: TID251 - scores are wall clocks
        with suppress(redis.ConnectionError, redis.ResponseError):
            self.server.command("ZADD", DELAYED, score, member)
            self.foreign[member] = score

    def probe(self, kind: str) -> None:
        """Publish after a fault, to see when work goes on."""
        with suppress(redis.ConnectionError):
            key = f"probe{len(self.probes)}"
            if ident := self._publish("ok", key):
                self.probes[ident] = Probe(kind, time.monotonic())

    def excuse(self, cause: str, ids: Iterable[str]) -> None:
        """From now on these may be missing."""
        self.losses += 1
        for ident in ids:
            self.excused.setdefault(ident, cause)

    def trim(self, ids: Iterable[str]) -> None:
        """These were trimmed while they were pending; their events come again."""
        self.excuse("trimmed while pending", known := self.published.keys() & ids)
        self.trimmed |= known
        for ident in sorted(known):
            self.publish("ok", self.published[ident].key)

    def find_missing(self, cause: str, since: float) -> None:
        """The server has forgotten what happened since then: what it no longer has may be missing, the rest come again."""
        there = ids_of(self.server)
        self.excuse(cause, [ident for ident in self.published if ident not in there])
        lines = read(self.post.ledger)
        self.repeatable |= {line.origin for line in lines if line.time >= since - PROMPT}
        # It may have forgotten too that it had delivered these.
        self.repeatable |= unsettled(self.server)

    def _publish(self, do: str, key: str) -> str:
        try:
            ident: str = self.server.command("XADD", STREAM, "*", "do", do, "order", key).decode()
        except redis.ResponseError as error:
            if isinstance(error, REFUSALS) or str(error).startswith("MISCONF"):
                return ""
            raise
        self.published[ident] = Published(do, key)
        return ident

    async def _connect(self) -> tuple[Proxy, ConnectionOptions]:
        self._proxies += 1
        proxy = Proxy(self.server.socket_path, self._directory / str(self._proxies))
        await self._stack.enter_async_context(proxy)
        return proxy, ConnectionOptions(
            addresses=(), socket_path=str(proxy.path), timeout=timedelta(seconds=0.6), label="chaos"
        )

    def leave_behind(self, number: int = 4) -> None:
        """Entries that a worker had read before it died, long ago."""
        with suppress(redis.ResponseError):
            self.server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
        for each in range(number):
            self.publish("ok", f"left{each}")
        words = ("XREADGROUP", "GROUP", GROUP, "so-gone-1-abcd", "COUNT", number, "STREAMS", STREAM, ">")
        self.server.command(*words)

    @asynccontextmanager
    async def fault(self, kind: str, member: Member | None = None) -> AsyncIterator[None]:
        """Note what is done inside, and how long it lasts."""
        began = time.monotonic()
        self._striking[asyncio.current_task()] = kind
        try:
            yield
        finally:
            self.faults.append(Fault(kind, began, time.monotonic(), member.pid if member else 0))

    @property
    def struck(self) -> str:
        """What was last done by whoever asks; empty where nothing was."""
        return self._striking.pop(asyncio.current_task(), "")

    def note(self, kind: str) -> None:
        """Note what harms nobody by itself."""
        now = time.monotonic()
        self.harmless.append(Fault(kind, now, now, -1))

    async def settle(self) -> None:
        """Have everything work, and wait until there is nothing to do; then end, and audit."""
        for member in self.members:
            member.proxy.resume()
            member.tell(signal.SIGCONT)
        if all(member.doomed for member in self.members):
            await self.join()
        for member in self.members:
            if member.doomed:
                member.tell(signal.SIGTERM)
        await self._have_all_leave()
        if consumer_names(self.server, STREAM, GROUP) or consumer_names(self.server, RETRIES, GROUP):
            # A read that was under way when its worker left makes its consumer anew: whoever comes next removes it.
            await self.join()
            await self._have_all_leave()
        self._audit()

    async def _have_all_leave(self) -> None:
        """Wait until there is nothing to do and nobody but the living is a consumer; then end them."""
        await self.until("idle", lambda: is_idle(self.server) and self._is_alone())
        for member in self.members:
            member.tell(signal.SIGTERM)
        for member in self.members:
            await asyncio.to_thread(member.process.join, ENDS_WITHIN)
            assert member.process.exitcode == 0, f"a worker ended with {member.process.exitcode}"
        self.members.clear()

    async def until(self, what: str, true: Callable[[], object]) -> None:
        """Wait until something is so; whoever died meanwhile is buried, and somebody always works."""
        deadline = time.monotonic() + HEALS_WITHIN
        while True:
            self.bury_the_dead()
            if not self.members:
                await self.join()
            asked = time.monotonic()
            if true():
                return
            spent = time.monotonic() - asked
            if time.monotonic() > deadline:
                alive = [member.pid for member in self.members]
                raise AssertionError(
                    f"not {what} after {HEALS_WITHIN} s: {state(self.server)}, alive {alive}"
                )
            # Asking holds up the workers' networks, which are carried by this loop too.
            await asyncio.sleep(max(0.03, REST * spent))

    def are_ready(self) -> bool:
        """Whether all workers beat, and nobody else does."""
        return {pid_of(name) for name in hearts(self.server)} == {member.pid for member in self.members}

    def _is_alone(self) -> bool:
        """Whether all workers beat, and nobody else is or was a consumer."""
        known = {*consumer_names(self.server, STREAM, GROUP), *consumer_names(self.server, RETRIES, GROUP)}
        return self.are_ready() and known <= hearts(self.server)

    def _audit(self) -> None:
        lines = read(self.post.ledger)
        self.audit = Audit(
            self.published,
            lines,
            self.faults,
            self.letters(),
            guarded=self.post.guarded,
            most=self.post.most,
            lease=self.post.lease,
            excused=self.excused.keys(),
            repeatable=self.repeatable,
            trimmed=self.trimmed,
        )
        forgiving = bool(self.repeatable or self.excused)
        problems = [*self.audit.problems, *leftovers(self.server, self.faults, forgiving=forgiving)]
        problems += touched(self.server, self.foreign, forgiving=bool(self.losses))
        if self.onlooker is not None:
            problems += self.onlooker.wrong
        if problems:
            told = "\n".join(problems)
            stories = [timeline(lines, self.faults, ident) for ident in self.published if ident in told]
            (self._directory / "stories").write_text("\n\n".join(map("\n".join, stories)))
            raise AssertionError(f"{told}\n(told in {self._directory}/stories)")

    def letters(self) -> list[FoundDeadLetter]:
        """The dead letters."""
        return letters(self.server)
