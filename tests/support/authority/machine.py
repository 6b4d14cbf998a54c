"""A tenant forges whatever streamops reads, while workers and operators with every right go on: nothing else changes.

The tenant's user may write ``payments*`` and ``{payments}*``. Workers run, and operators apply every operation that
reads what lies there. All other keys are compared after each step, values and times to live, and those of streamops that
an operator's deeds do not change.
"""

import asyncio
import hashlib
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import redis
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace

from streamops.errors import StreamopsError
from streamops.model.acting import Confirmation
from streamops.model.delayed import DelayedBody
from streamops.operations.console import Console
from streamops.runtime import Entry, Reject, Streamops
from streamops.wire.consuming.promoting import promote_due
from streamops.wire.delayed import encode_body
from streamops.wire.options import Secret
from streamops.wire.server import Server
from tests.support.operations.engine.examples import (
    BODIES,
    EXAMPLES,
    LETTERS,
    QUEUE,
    STREAM,
    WORKSHOP,
    Scene,
    add_shop_with_letters_and_queue,
)
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer

RETRIES = "{payments}:retry:billing"
TENANT_RULES = (
    "on",
    ">tenant",
    "~payments*",
    "~{payments}*",
    "+@all",
    "-@admin",
    "-@dangerous",
    "-@blocking",
)
ELSEWHERE = {"pools", "pause", "resume", "scale", "autoscale", "topics", "jobs"}
"""Operations that read nothing a tenant may write."""

DEEDS = sorted(name for name, one in EXAMPLES.items() if one.operation.split(".")[0] not in ELSEWHERE)
FOLLOWING = ("replay for all", "replay as a retry", "run-now", "reclaim by adding", "restore entries")
"""Those that follow most of what is written there."""

STREAMS = ("orders", "{orders}:retry:g", "streamops:audit")
PAYLOADS = ("{orders}:payload:kept", "{orders}:payload:passing")
FOREIGN = (
    "orders",
    "{orders}:dlq",
    "{orders}:retry:g",
    "{orders}:delayed",
    "{orders}:payload:kept",
    "{orders}:payload:passing",
    "{orders}:done:g:1",
    "secret",
    "streamops:audit",
    "streamops:topics",
    "streamops:pools",
    "streamops:pool:default",
    "streamops:job:left",
)
NAMES = (
    *(STREAM, "{payments}", RETRIES, LETTERS, QUEUE, "{payments}:payload:p", "{payments}:done:billing:1"),
    *FOREIGN,
    *(
        "missing",
        "",
        "*",
        "payments\norders",
        "{payments}:payload:p\n{orders}:payload:kept",
        "{payments}orders",
    ),
)
RESERVED = (
    *(
        "_so_origin",
        "_so_origin_id",
        "_so_group",
        "_so_consumer",
        "_so_reason",
        "_so_attempt",
        "_so_deliveries",
    ),
    *("_so_payload", "_so_shape", "_so_replay_of", "_so_trace", "orig_id", "reason", "payload", "n", "data"),
)
IDS = ("1-0", "2-0", "7-0", "0-0", "18446744073709551615-18446744073709551615", "1-0\n2-0", "x")
KINDS = ("string", "hash", "list", "stream", "zset")
BESIDE = (
    *(
        "{payments}:payload:p",
        "{payments}:done:billing:1",
        "{payments}:done:billing::unhandled",
        "{payments}:replayed",
    ),
    *("{payments}:attempts:billing", "{payments}:moved:1", "{payments}:undo:1-0", "{payments}:undone:1-0"),
    *(QUEUE, "{payments}:delayed:jobs", LETTERS, RETRIES),
)

names = st.sampled_from(NAMES)
words = st.one_of(
    names, st.sampled_from(IDS), st.sampled_from(["billing", "shipping", "3", "-1", "9" * 30]), st.text()
)
fields = st.lists(st.tuples(st.sampled_from(RESERVED), words), min_size=1, max_size=6)


class Authority(RuleBasedStateMachine):
    """Forgeries by a tenant, and whoever acts on them."""

    running: ClassVar[RunningServer]
    steps: ClassVar[int] = 0
    applied: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.place = TemporaryDirectory()
        self.before: dict[bytes, tuple[bytes, bool]] = {}

    @initialize()
    def set_up(self) -> None:
        """The tenant's stream with its groups, and all that belongs to others."""
        command = self.running.command
        self.running.flush()
        add_shop_with_letters_and_queue(command)
        command("XADD", "orders", "1-0", "n", "1")
        command("XGROUP", "CREATE", "orders", "g", "0")
        command("XADD", "{orders}:dlq", "1-0", "_so_origin", "orders", "n", "1")
        command("ZADD", "{orders}:delayed", 9e12, "later")
        command("HSET", "{orders}:delayed:jobs", "later", encode_body(DelayedBody("orders", ((b"n", b"1"),))))
        command("SET", "{orders}:payload:kept", "theirs")
        command("SET", "{orders}:payload:passing", "theirs", "EX", 36_000)
        command("SET", "{orders}:done:g:1", "1-0", "EX", 36_000)
        command("SET", "secret", "theirs")
        command("HSET", "streamops:topics", "remind", "{}")
        command("HSET", "streamops:pools", "default", "{}")
        command("HSET", "streamops:pool:default", "mode", "running")
        command("ACL", "SETUSER", "tenant", "reset", *TENANT_RULES)
        self.tenant = self.running.connect(username="tenant", password="tenant")  # noqa: S106
        self.before = self.others()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Let somebody with every right act; what cannot be done is told, and nothing else happens."""
        with suppress(StreamopsError):
            self.runner.run(work)

    def forge(self, *command: str | bytes | float) -> None:
        """Send a tenant's command; what a key's type does not allow is refused."""
        with suppress(redis.ResponseError):
            self.tenant.execute_command(*command)  # type: ignore[no-untyped-call] # redis-py's

    @rule(key=st.sampled_from((STREAM, STREAM, LETTERS, RETRIES)), said=fields)
    def add_entry(self, key: str, said: list[tuple[str, str]]) -> None:
        """An entry, a letter or a retry that says anything of itself."""
        self.forge("XADD", key, "*", *(part for pair in said for part in pair))

    @rule(key=st.sampled_from((STREAM, LETTERS, RETRIES)), named=st.sampled_from(PAYLOADS))
    def refer_to_what_others_keep(self, key: str, named: str) -> None:
        """The shortest way to others' payloads: fetched, then kept or dropped with an entry that is rejected."""
        self.forge("XADD", key, "*", "n", "p", "_so_payload", named)

    @rule(named=st.sampled_from(STREAMS), delayed=st.booleans())
    def go_to_others(self, named: str, *, delayed: bool) -> None:
        """The shortest way to others' streams: a letter that came from there, a message that goes there."""
        if delayed:
            self.forge("HSET", BODIES, named, encode_body(DelayedBody(named, ((b"n", b"1"),))))
            self.forge("ZADD", QUEUE, 1, named)
        else:
            self.forge("XADD", LETTERS, "*", "n", "p", "_so_origin", named)

    @rule(said=fields, named=names, group=words, attempt=st.integers(-1, 2**40), origin=words)
    def delay_message(
        self, said: list[tuple[str, str]], named: str, group: str, attempt: int, origin: str
    ) -> None:
        """A delayed message to anywhere."""
        pairs = tuple((name.encode(), value.encode("utf-8", "surrogatepass")) for name, value in said)
        body = encode_body(DelayedBody(named, pairs, group, attempt, origin))
        ident = hashlib.sha1(body, usedforsecurity=False).hexdigest()
        self.forge("HSET", BODIES, ident, body)
        self.forge("ZADD", QUEUE, 1, ident)

    @rule(key=st.sampled_from(BESIDE), kind=st.sampled_from(KINDS), first=words, second=words)
    def put_key(self, key: str, kind: str, first: str, second: str) -> None:
        """A key beside the stream, of any type."""
        self.forge("DEL", key)
        match kind:
            case "string":
                self.forge("SET", key, first)
            case "hash":
                self.forge("HSET", key, first, second)
            case "list":
                self.forge("RPUSH", key, first, second)
            case "zset":
                self.forge("ZADD", key, 1, first, 2, second)
            case _:
                self.forge("XADD", key, "*", first, second)

    @rule(consumer=words)
    def read(self, consumer: str) -> None:
        """Another consumer's name in the group."""
        self.forge("XREADGROUP", "GROUP", "billing", consumer or "w", "COUNT", 2, "STREAMS", STREAM, ">")

    @rule(deed=st.sampled_from(FOLLOWING))
    def follow(self, deed: str) -> None:
        """An operator does what follows what is written there."""
        self.run(self._operate(deed))

    @rule(deed=st.sampled_from(DEEDS))
    def operate(self, deed: str) -> None:
        """An operator does something to the tenant's stream."""
        self.run(self._operate(deed))

    async def _operate(self, deed: str) -> None:
        async with await Console.open(self.running.options, actor=WORKSHOP) as console:
            try:
                intent = await EXAMPLES[deed].ready(Scene(console, Path(self.place.name)))
            except (ValueError, redis.ResponseError):
                # The tenant has left nothing for the example to begin with.
                return
            prepared = await console.prepare(intent)
            await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
        type(self).applied += 1

    @rule()
    def promote(self) -> None:
        """A worker moves what is due."""
        self.run(self._promote())

    async def _promote(self) -> None:
        server = await Server.connect(self.running.options)
        try:
            promotion = await promote_due(server, STREAM)
            if not isinstance(promotion, tuple) and (unknown := getattr(promotion, "unknown", ())):
                await promote_due(server, STREAM, unknown)
        finally:
            await server.close()

    @rule()
    def work(self) -> None:
        """A worker handles what it is given, and rejects some of it."""
        self.run(self._work())

    async def _work(self) -> None:
        app = Streamops(replace(self.running.options, username=None, password=Secret("")))

        @app.handler(STREAM, group="billing", start="0", key="n", max_attempts=2)
        async def handle(entry: Entry) -> None:
            if (entry.get("n") or b"")[:1] in (b"", b"p", b"{"):
                raise Reject("no")

        async with working(app):
            with suppress(TimeoutError, redis.ResponseError):
                await until(lambda: is_idle(self.running, STREAM, "billing"), 0.5)

    def others(self) -> dict[bytes, tuple[bytes, bool]]:
        """All keys that are neither the tenant's nor written by deeds of workers and operators: digest, and if they expire."""
        found = {}
        for key in self.running.client.scan_iter(count=1_000):
            if key.startswith((b"payments", b"{payments}", *_DEEDS)):
                continue
            dump = self.running.command("DUMP", key)
            found[key] = (
                hashlib.sha1(dump, usedforsecurity=False).digest(),
                self.running.command("PTTL", key) > 0,
            )
        return found

    @invariant()
    def nothing_else_has_changed(self) -> None:
        """What lies beyond the tenant's rights is as it was, and all records tell of the operator."""
        if not self.before:
            return
        type(self).steps += 1
        assert self.others() == self.before
        for _, parts in self.running.command("XRANGE", "streamops:audit", "-", "+"):
            record = dict(zip(parts[::2], parts[1::2], strict=True))
            assert (record[b"user"], record[b"host"]) == (b"ada", b"desk")

    def teardown(self) -> None:
        """End what was opened."""
        self.runner.close()
        self.place.cleanup()
        if self.before:
            self.tenant.close()
            self.running.command("ACL", "DELUSER", "tenant")


_DEEDS = (
    b"streamops:audit",
    b"streamops:job",
    b"streamops:worker:",
    b"streamops:roster:",
    b"streamops:supervisors:",
)


def play(running: RunningServer, histories: int) -> None:
    """Random histories of sixty steps; none crosses, and operators do get things done."""
    Authority.running = running
    Authority.steps = Authority.applied = 0
    # A history takes seconds: one that fails is told as it was.
    once = settings(max_examples=histories, stateful_step_count=60, phases=(Phase.explicit, Phase.generate))
    run_state_machine_as_test(Authority, settings=once)
    assert Authority.steps > 10 * histories
    assert Authority.applied > 0
