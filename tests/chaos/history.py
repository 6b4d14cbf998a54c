"""A history: workers at work on what is published, while processes, connections and the server fail at random."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Self

import redis
from msgspec.structs import replace

from streamops.wire.options import ConnectionOptions
from tests.chaos.ledger import Audit, Fault, Letter, Published, read, timeline
from tests.chaos.proxy import Proxy
from tests.chaos.worker import EXITED, GROUP, STREAM, UNREACHABLE, Doom, Post, start
from tests.servers import RunningServer

RETRIES, LETTERS = f"{{{STREAM}}}:retry:{GROUP}", f"{{{STREAM}}}:dlq"
DELAYED, MARKS = f"{{{STREAM}}}:delayed", f"{{{STREAM}}}:attempts:{GROUP}"
GUARDS = f"{{{STREAM}}}:done:{GROUP}:"
ROSTER = "streamops:roster:"

HEALS_WITHIN = 30.0
"""Seconds after the last fault until all is done, on a machine that is busy."""

ENDS_WITHIN = 20.0
ENDS = frozenset({0, EXITED, UNREACHABLE, -signal.SIGKILL, -signal.SIGTERM})
"""How workers end: drained, by a handler that exits, without a server at the start, killed, told to before that."""


class Member:
    """A worker process, and the network between it and the server.

    Attributes:
        pid: The process.
        doomed: Whether it ends of itself.
    """

    def __init__(self, process: BaseProcess, proxy: Proxy, *, doomed: bool) -> None:
        assert process.pid is not None
        self.pid = process.pid
        self.process = process
        self.proxy = proxy
        self.doomed = doomed

    def tell(self, number: signal.Signals) -> None:
        """Send it a signal, if it is still there: whoever ends between question and signal has been collected."""
        if self.process.is_alive():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


class History:
    """One history.

    Attributes:
        faults: What was done, and when.
        members: The living workers.
        serving: Held by whoever stops the server.
        published: What was confirmed.
        excused: What somebody took off the list of pending ones with his own hands.
        repeatable: What nobody can know any more to have been acknowledged.
        audit: The audit, in the end.
    """

    def __init__(self, server: RunningServer, directory: Path, post: Post) -> None:
        self.faults: list[Fault] = []
        self.members: list[Member] = []
        self.published: dict[str, Published] = {}
        self.excused: set[str] = set()
        self.repeatable: set[str] = set()
        self.audit: Audit | None = None
        self.server = server
        self.post = replace(post, ledger=directory / "ledger")
        self._directory = directory
        self._stack = AsyncExitStack()
        self._proxies = 0
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
        self._proxies += 1
        proxy = Proxy(self.server.socket_path, self._directory / str(self._proxies))
        await self._stack.enter_async_context(proxy)
        options = ConnectionOptions(
            addresses=(), socket_path=str(proxy.path), timeout=timedelta(seconds=0.6), label="chaos"
        )
        process = await asyncio.to_thread(start, replace(self.post, options=options, doom=doom))
        member = Member(process, proxy, doomed=doom is not None)
        self.members.append(member)
        return member

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
            ident = self.server.command("XADD", STREAM, "*", "do", do, "order", key).decode()
            self.published[ident] = Published(do, key)

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
        try:
            yield
        finally:
            self.faults.append(Fault(kind, began, time.monotonic(), member.pid if member else 0))

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
        if self._consumers(STREAM) or self._consumers(RETRIES):
            # A read that was under way when its worker left makes its consumer anew: whoever comes next removes it.
            await self.join()
            await self._have_all_leave()
        self._audit()

    async def _have_all_leave(self) -> None:
        """Wait until there is nothing to do and nobody but the living is a consumer; then end them."""
        await self.until("idle", lambda: self._is_idle() and self._is_alone())
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
            if true():
                return
            if time.monotonic() > deadline:
                raise AssertionError(f"not {what} after {HEALS_WITHIN} s: {self._state()}")
            await asyncio.sleep(0.03)

    def _is_idle(self) -> bool:
        ask = self.server.command
        return (
            _unread(ask, STREAM) == 0
            and ask("XPENDING", STREAM, GROUP)[0] == 0
            and ask("XPENDING", RETRIES, GROUP)[0] == 0
            and ask("XLEN", RETRIES) == 0
            and ask("ZCARD", DELAYED) == 0
        )

    def are_ready(self) -> bool:
        """Whether all workers beat, and nobody else does."""
        return {_pid(name) for name in self._hearts()} == {member.pid for member in self.members}

    def _is_alone(self) -> bool:
        """Whether all workers beat, and nobody else is or was a consumer."""
        return self.are_ready() and {*self._consumers(STREAM), *self._consumers(RETRIES)} <= self._hearts()

    def _hearts(self) -> set[str]:
        return {
            name.decode().rpartition(":")[2] for name in self.server.command("KEYS", "streamops:worker:*")
        }

    def _consumers(self, key: str) -> list[str]:
        rows = self.server.command("XINFO", "CONSUMERS", key, GROUP)
        return [dict(zip(row[::2], row[1::2], strict=True))[b"name"].decode() for row in rows]

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
            excused=self.excused,
            repeatable=self.repeatable,
        )
        problems = [*self.audit.problems, *self._leftovers()]
        if problems:
            told = "\n".join(problems)
            stories = [timeline(lines, self.faults, ident) for ident in self.published if ident in told]
            (self._directory / "stories").write_text("\n\n".join(map("\n".join, stories)))
            raise AssertionError(f"{told}\n(told in {self._directory}/stories)")

    def letters(self) -> list[Letter]:
        """The dead letters."""
        rows = self.server.command("XRANGE", LETTERS, "-", "+")
        told = [dict(zip(raw[::2], raw[1::2], strict=True)) for _, raw in rows]
        return [
            Letter(
                row[b"_so_origin_id"].decode(),
                row[b"_so_reason"].decode(),
                int(row[b"_so_attempt"]),
                row[b"order"].decode(),
            )
            for row in told
        ]

    def _leftovers(self) -> list[str]:
        ask = self.server.command
        found = {key.decode() for key in ask("KEYS", "*")}
        allowed = {STREAM, RETRIES, LETTERS} | ({MARKS} if self.repeatable or self.excused else set())
        # Who was killed stays on the roster until it ends by itself.
        ending = {key for key in found if key.startswith(ROSTER) and ask("PTTL", key) > 0}
        strays = [key for key in found - allowed - ending if not key.startswith(GUARDS)]
        problems = [f"a key is left: {key} {self._dump(key)}" for key in strays]
        problems += [
            f"a consumer of {key} is left: {name} {self._faults_of(name)}"
            for key in (STREAM, RETRIES)
            for name in self._consumers(key)
        ]
        if (lag := _lag(ask, STREAM)) not in (0, None):
            problems.append(f"lag {lag}")
        return problems

    def _faults_of(self, name: str) -> list[Fault]:
        return [fault for fault in self.faults if fault.pid == _pid(name)]

    def _dump(self, key: str) -> Any:  # noqa: ANN401 - for a message
        return self.server.command("HGETALL", key) if key == MARKS else self.server.command("TYPE", key)

    def _state(self) -> str:
        ask = self.server.command
        return (
            f"unread {_unread(ask, STREAM)}, pending {ask('XPENDING', STREAM, GROUP, '-', '+', 5)}, "
            f"due {ask('XPENDING', RETRIES, GROUP, '-', '+', 5)} of {ask('XLEN', RETRIES)}, delayed {ask('ZCARD', DELAYED)}, "
            f"consumers {self._consumers(STREAM)} {self._consumers(RETRIES)}, alive {[member.pid for member in self.members]}, "
            f"hearts {ask('KEYS', 'streamops:worker:*')}"
        )


def _pid(name: str) -> int:
    """The process of a consumer."""
    return int(name.split("-")[-2])


def _groups(ask: Callable[..., Any], key: str) -> dict[bytes, Any]:
    for row in ask("XINFO", "GROUPS", key):
        fields = dict(zip(row[::2], row[1::2], strict=True))
        if fields[b"name"] == GROUP.encode():
            return fields
    return {}


def _unread(ask: Callable[..., Any], key: str) -> int:
    """How many entries were not delivered; one where there is no group yet."""
    with suppress(redis.ResponseError):
        if fields := _groups(ask, key):
            return len(ask("XRANGE", key, f"({fields[b'last-delivered-id'].decode()}", "+"))
    return 1


def _lag(ask: Callable[..., Any], key: str) -> int | None:
    return _groups(ask, key).get(b"lag")
