"""A model of one stream that knows the truth, driven by random histories against a real server."""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

import redis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from streamops.model.entries import ZERO_ID, EntryId
from streamops.model.lag import LagBasis
from streamops.model.streams import ConsumerGroup, Snapshot, StreamState
from streamops.monitor.collect import Collector
from streamops.monitor.counting import CountBudget
from streamops.monitor.watch import Watch
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth, StreamReader
from tests.support.servers import RunningServer

STREAM = "truth"
GROUPS = ("g1", "g2", "g3")
CONSUMERS = ("c1", "c2")
STINGY = CountBudget(per_range=3, per_collection=5, per_page=2, cheap=1)

Value = TypeVar("Value")
groups = st.sampled_from(GROUPS)
consumers = st.sampled_from(CONSUMERS)
small = st.integers(1, 6)
shares = st.floats(0, 1)


class StreamTruth(RuleBasedStateMachine):
    """Random commands on one stream; after each, what streamops says is held against what is so."""

    running: ClassVar[RunningServer]
    steps: ClassVar[int] = 0
    bases: ClassVar[Counter[LagBasis]] = Counter()
    reasons: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[EntryId] = []
        self.positions: dict[str, EntryId] = {}
        self.last_generated = ZERO_ID
        self.runner = asyncio.Runner()

    @initialize()
    def connect(self) -> None:
        self.running.flush()
        self.server = self.do(Server.connect(self.running.options))
        self.patient = Collector(self.server, Watch())
        self.stingy = Collector(self.server, Watch(), STINGY)
        self.add(6)
        for group in GROUPS:
            self.create_or_move(group, 0.0, "0")

    def do(self, work: Coroutine[Any, Any, Value]) -> Value:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.do(self.server.close())
        self.runner.close()

    # What producers do.

    @rule(count=st.integers(1, 20))
    def add(self, count: int) -> None:
        for _ in range(count):
            self.note_added(self.running.command("XADD", STREAM, "*", "f", "v"))

    @rule(step=st.integers(1, 10_000_000), seq=st.integers(0, 3))
    def add_with_own_id(self, step: int, seq: int) -> None:
        wanted = EntryId(self.last_generated.ms + step, seq)
        self.note_added(self.running.command("XADD", STREAM, str(wanted), "f", "v"))

    @rule(count=small, cap=st.integers(0, 60), exact=st.booleans())
    def add_capped(self, count: int, cap: int, *, exact: bool) -> None:
        for _ in range(count):
            added = self.running.command("XADD", STREAM, "MAXLEN", "=" if exact else "~", cap, "*", "f", "v")
            self.note_added(added)
        self.note_trimmed()

    @rule(count=st.integers(100, 300))
    def add_many(self, count: int) -> None:
        """Enough for several nodes, so that approximate trimming has something to drop."""
        pipeline = self.running.client.pipeline(transaction=False)
        for _ in range(count):
            pipeline.xadd(STREAM, {"f": "v"})
        for added in pipeline.execute():
            self.note_added(added)

    # What removes entries.

    @precondition(lambda self: self.ids)
    @rule(share=shares, count=small)
    def delete_some(self, share: float, count: int) -> None:
        at = int(share * (len(self.ids) - 1))
        doomed = self.ids[at : at + count]
        self.running.command("XDEL", STREAM, *map(str, doomed))
        del self.ids[at : at + count]

    @precondition(lambda self: self.ids)
    @rule()
    def delete_last(self) -> None:
        self.running.command("XDEL", STREAM, str(self.ids.pop()))

    @precondition(lambda self: self.positions)
    @rule(group=groups)
    def delete_position(self, group: str) -> None:
        position = self.positions.get(group)
        if position in self.ids:
            self.running.command("XDEL", STREAM, str(position))
            self.ids.remove(position)

    @rule(cap=st.integers(0, 60), exact=st.booleans())
    def trim_by_length(self, cap: int, *, exact: bool) -> None:
        self.running.command("XTRIM", STREAM, "MAXLEN", "=" if exact else "~", cap)
        self.note_trimmed()

    @precondition(lambda self: self.ids)
    @rule(share=shares, exact=st.booleans())
    def trim_by_id(self, share: float, *, exact: bool) -> None:
        floor = self.ids[int(share * (len(self.ids) - 1))]
        self.running.command("XTRIM", STREAM, "MINID", "=" if exact else "~", str(floor))
        self.note_trimmed()

    # What administrators do.

    @rule(group=groups, share=shares, where=st.sampled_from(["0", "$", *["middle"] * 6, "first"]))
    def create_or_move(self, group: str, share: float, where: str) -> None:
        position = self.place(where, share)
        word = "SETID" if group in self.positions else "CREATE"
        self.running.command("XGROUP", word, STREAM, group, "$" if where == "$" else str(position))
        self.positions[group] = position

    @precondition(lambda self: len(self.positions) == len(GROUPS))
    @rule(group=groups)
    def destroy(self, group: str) -> None:
        self.running.command("XGROUP", "DESTROY", STREAM, group)
        self.positions.pop(group, None)

    @precondition(lambda self: self.positions)
    @rule(group=groups, consumer=consumers, make=st.booleans())
    def change_consumers(self, group: str, consumer: str, *, make: bool) -> None:
        if group in self.positions:
            self.running.command(
                "XGROUP", "CREATECONSUMER" if make else "DELCONSUMER", STREAM, group, consumer
            )

    # What consumers do.

    @precondition(lambda self: self.positions)
    @rule(group=groups, consumer=consumers, count=st.integers(1, 40), noack=st.booleans())
    def read(self, group: str, consumer: str, count: int, *, noack: bool) -> None:
        if group not in self.positions:
            return
        flag = ("NOACK",) if noack else ()
        self.running.command(
            "XREADGROUP", "GROUP", group, consumer, "COUNT", count, *flag, "STREAMS", STREAM, ">"
        )
        if given := [one for one in self.ids if one > self.positions[group]][:count]:
            self.positions[group] = given[-1]

    @rule(count=st.integers(1, 10))
    def work(self, count: int) -> None:
        """The usual life of a stream: every group gets something, and more comes in."""
        for group in GROUPS:
            self.read(group, "c1", count, noack=False)
        self.add(count)

    @rule(count=st.integers(1, 10))
    def work_on_a_short_stream(self, count: int) -> None:
        for group in GROUPS:
            self.read(group, "c2", count, noack=False)
        self.add_capped(count, 50, exact=True)

    @precondition(lambda self: self.positions)
    @rule(group=groups)
    def read_all(self, group: str) -> None:
        self.read(group, "c1", 100_000, noack=True)

    @precondition(lambda self: self.positions)
    @rule(
        group=groups,
        consumer=consumers,
        how=st.sampled_from(["ack", "claim", "autoclaim", "history"]),
        count=small,
    )
    def handle_pending(self, group: str, consumer: str, how: str, count: int) -> None:
        if group not in self.positions:
            return
        rows = self.running.command("XPENDING", STREAM, group, "-", "+", count)
        if how == "autoclaim":
            self.running.command("XAUTOCLAIM", STREAM, group, consumer, 0, "0", "COUNT", count)
        elif how == "history":
            self.running.command(
                "XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", STREAM, "0"
            )
        elif rows and how == "ack":
            self.running.command("XACK", STREAM, group, *(row[0] for row in rows))
        elif rows:
            self.running.command("XCLAIM", STREAM, group, consumer, 0, *(row[0] for row in rows))

    # What must be so.

    @invariant()
    def everything_said_is_true(self) -> None:
        if not hasattr(self, "patient"):
            return
        StreamTruth.steps += 1
        for collector in (self.patient, self.stingy):
            snapshot = self.do(collector.collect([STREAM], discovered=1, complete=True))
            self.check(snapshot, count=collector is self.patient)

    def check(self, snapshot: Snapshot, *, count: bool) -> None:
        assert snapshot.gaps == ()
        (stream,) = snapshot.streams
        assert stream.length == len(self.ids)
        self.check_bounds(stream)
        assert {group.name for group in stream.groups} == set(self.positions)
        for group in stream.groups:
            self.check_lag(group)
            self.check_time_lag(group, snapshot)
            self.check_time_lag_is_known(group, snapshot)
            self.check_pending(group)
            if count:
                StreamTruth.bases[group.lag.basis] += 1
                StreamTruth.reasons[group.lag.reason] += 1

    def check_bounds(self, stream: StreamState) -> None:
        assert (stream.first_id, stream.last_id) == (
            (self.ids[0], self.ids[-1]) if self.ids else (None, None)
        )

    def check_lag(self, group: ConsumerGroup) -> None:
        lag = group.lag
        truth = sum(one > self.positions[group.name] for one in self.ids)
        if lag.basis in (LagBasis.EXACT, LagBasis.REPORTED):
            assert lag.entries == truth, f"{group.name}: {lag} but {truth} is so"
        assert lag.lower is not None
        assert lag.upper is not None
        assert lag.lower <= truth <= lag.upper, f"{group.name}: {lag} but {truth} is so"
        if lag.entries is not None:
            assert lag.lower <= lag.entries <= lag.upper

    def check_time_lag(self, group: ConsumerGroup, snapshot: Snapshot) -> None:
        waiting = [one for one in self.ids if one > self.positions[group.name]]
        if not waiting:
            assert group.time_lag.age is not None
            assert group.time_lag.age.total_seconds() == 0
        elif group.time_lag.age is not None and waiting[0].time is not None:
            since = max(0.0, (snapshot.collected_at - waiting[0].time).total_seconds())
            assert abs(group.time_lag.age.total_seconds() - since) < 0.001

    def check_time_lag_is_known(self, group: ConsumerGroup, snapshot: Snapshot) -> None:
        """It is known exactly where the next entry's ID is a plausible time."""
        waiting = [one for one in self.ids if one > self.positions[group.name]]
        if waiting:
            made, latest = waiting[0].time, snapshot.collected_at + timedelta(minutes=1)
            plausible = made is not None and datetime(2015, 1, 1, tzinfo=UTC) <= made <= latest
            assert (group.time_lag.age is not None) == plausible, group.time_lag

    def check_pending(self, group: ConsumerGroup) -> None:
        pending, smallest, _, _ = self.running.command("XPENDING", STREAM, group.name)
        assert group.pending == pending
        oldest = group.oldest_pending
        assert (oldest and str(oldest.id).encode()) == smallest
        if group.profile is not None and group.profile.coverage == 1.0:
            assert (
                sum(group.profile.idle_buckets)
                == sum(group.profile.delivery_buckets)
                == group.profile.scanned
            )

    # How the model keeps up.

    def note_added(self, raw: bytes) -> None:
        added = EntryId.parse(raw)
        self.ids.append(added)
        self.last_generated = added

    def note_trimmed(self) -> None:
        """Trimming drops from the front; approximate trimming, as much as the server liked."""
        left = self.running.command("XLEN", STREAM)
        self.ids = self.ids[len(self.ids) - left :]

    def place(self, where: str, share: float) -> EntryId:
        if where == "$":
            return self.last_generated
        if where == "0" or not self.ids:
            return ZERO_ID
        return self.ids[0] if where == "first" else self.ids[int(share * (len(self.ids) - 1))]


def wrong_commands_do_not_hide(server: RunningServer) -> None:
    """The model sends raw commands: an error of theirs must end the test, not be taken for an answer."""
    try:
        server.command("XLEN")
    except redis.ResponseError:
        return
    raise AssertionError("a wrong command was answered without an error")


KNOWN_SHARE = 0.98

SLACK = timedelta(seconds=2)
"""Time between a collection and the question that it is compared with."""


class DeepTruth(StreamTruth):
    """The same histories, with somebody who sets the last ID by hand."""

    @initialize()
    def connect(self) -> None:
        super().connect()
        self.deep = [Collector(self.server, Watch(deep=True), budget) for budget in (None, STINGY)]

    @precondition(lambda self: self.ids)
    @rule(step=st.integers(1, 10_000))
    def set_last_id(self, step: int) -> None:
        """Nothing tells from then on, but reading, whether an entry of the last ID is there."""
        self.last_generated = EntryId(self.last_generated.ms + step, 0)
        self.running.command("XSETID", STREAM, str(self.last_generated))

    @invariant()
    def everything_said_is_true(self) -> None:
        for collector in getattr(self, "deep", ()):
            snapshot = self.do(collector.collect([STREAM], discovered=1, complete=True))
            self.check(snapshot, count=collector is self.deep[0])

    def check_bounds(self, stream: StreamState) -> None:
        first, last = (self.ids[0], self.ids[-1]) if self.ids else (None, None)
        assert stream.first_id == first
        assert stream.last_id in (last, None)
        assert stream.last_generated_id == self.last_generated

    def check_pending(self, group: ConsumerGroup) -> None:
        super().check_pending(group)
        assert group.members is not None
        told = {row[b"name"].decode(): row for row in self.consumers(group.name)}
        assert {member.name for member in group.members} == told.keys()
        assert group.consumers == len(told)
        for member in group.members:
            row = told[member.name]
            assert member.pending == row[b"pending"]
            assert abs(member.idle - timedelta(milliseconds=row[b"idle"])) < SLACK
            inactive = row.get(b"inactive", -1)
            assert (member.inactive is None) == (inactive < 0)

    def consumers(self, group: str) -> list[dict[bytes, Any]]:
        rows = self.running.command("XINFO", "CONSUMERS", STREAM, group)
        return [dict(zip(row[::2], row[1::2], strict=True)) for row in rows]


class SpacedTruth(DeepTruth):
    """The same histories, read now and then, as an exporter reads: much may happen between two readings."""

    @rule()
    def scrape(self) -> None:
        super().everything_said_is_true()

    @invariant()
    def everything_said_is_true(self) -> None:
        """Read only when the rule above says so."""


class RestrictedTruth(StreamTruth):
    """The same histories, read as far down the ladder as it goes."""

    @initialize()
    def connect(self) -> None:
        super().connect()
        self.collectors = {
            depth: Collector(self.server, Watch(), STINGY if depth is Depth.GROUPS else None)
            for depth in (Depth.TRANSACTION, Depth.GROUPS)
        }
        for depth, collector in self.collectors.items():
            assert isinstance(collector._reader, StreamReader)
            collector._reader.depth = depth

    @invariant()
    def everything_said_is_true(self) -> None:
        if not hasattr(self, "collectors"):
            return
        for depth, collector in self.collectors.items():
            snapshot = self.do(collector.collect([STREAM], discovered=1, complete=True))
            if depth is not Depth.GROUPS:
                self.check(snapshot, count=False)
                continue
            (stream,) = snapshot.streams
            assert stream.length == len(self.ids)
            for group in stream.groups:
                self.check_lag(group)
                # Where not even the bounds may be read, it takes a count to know that nothing waits.
                if group.time_lag.age is not None or (group.lag.known and group.lag.entries == 0):
                    self.check_time_lag(group, snapshot)
                self.check_pending(group)


def play(machine: type[StreamTruth], running: RunningServer, examples: int) -> None:
    """Random histories of a machine; at least 98 of 100 lags are told as a number, where all permissions are there.

    Args:
        machine: What reads: by script, in full, or with fewer permissions.
        running: The server.
        examples: How many histories of fifty steps.
    """
    wrong_commands_do_not_hide(running)
    machine.running = running
    machine.steps = 0
    machine.bases.clear()
    machine.reasons.clear()
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=50))
    readings = sum(machine.bases.values())
    known = machine.bases[LagBasis.EXACT] + machine.bases[LagBasis.REPORTED]
    assert readings or machine is RestrictedTruth
    assert known >= KNOWN_SHARE * readings, machine.reasons.most_common()
