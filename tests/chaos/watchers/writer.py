"""Who changes the streams, by raw commands on a connection of its own, and writes down what was so and what was done."""

import threading
from collections import Counter
from random import Random
from typing import Final

import redis

from streamops.model.entries import ZERO_ID, EntryId
from tests.chaos.histories.moving_truth import GroupTruth
from tests.chaos.watchers.clock import wall_clock
from tests.chaos.watchers.truth import READ, Journal, Reading
from tests.support.servers import RunningServer

STREAMS: Final = ("orders", "{shop}:mail")
GROUPS: Final = ("billing", "audit")
CONSUMERS: Final = ("c1", "c2")
KEEPER: Final = "keeper"
"""The user who is refused nothing."""

ANYTHING: Final = "any"
"""Its password: it takes whatever it is given."""

LONGEST: Final = 120
"""Entries of a stream, about."""

Count = tuple[str, str, str]
"""What was counted: its name, the stream, the group or nothing."""


NOWHERE: Final = GroupTruth(ZERO_ID, (), (), ())
"""A group that is not there."""


class Writer:
    """Changes two streams with two groups each.

    Attributes:
        journals: What each stream was at each instant.
        done: What was done.
        going: Held by whoever wants nothing to change.
    """

    def __init__(self, server: RunningServer, random: Random) -> None:
        self.journals = {stream: Journal() for stream in STREAMS}
        self.done: Counter[Count] = Counter()
        self.going = threading.Lock()
        self._random = random
        self._since: dict[str, float] = {}
        self._gone: dict[str, set[EntryId]] = {stream: set() for stream in STREAMS}
        self.turn_to(server)
        for stream in STREAMS:
            self._begin(stream)

    def turn_to(self, server: RunningServer) -> None:
        """Write to this server from now on."""
        self._client = server.connect(username=KEEPER, password=ANYTHING)
        self._client.response_callbacks.clear()

    def step(self) -> None:
        """Do one thing that workers and retention do; nothing where the server does not let us."""
        with self.going:
            stream, group = self._random.choice(STREAMS), self._random.choice(GROUPS)
            try:
                if not self._is_whole(stream):
                    self._begin(stream)
                self._usual(stream, group)
            except redis.RedisError:
                # It is away, or refuses: what was asked for may have been done.
                return

    def look_and_mend(self, since: float) -> None:
        """Read what all streams are now, which they may have been since an instant; and make anew what is not there."""
        for stream in STREAMS:
            self._since[stream] = min(since, self._since.get(stream, since))
            self._do(stream, "PING")
            if not self._is_whole(stream):
                self._begin(stream)

    def meddle(self, kind: str) -> None:
        """Do what an operator may: ``destroy``, ``remake``, ``rewind``, ``forward``, ``delete``, ``forget``, ``trim``."""
        stream, group = self._random.choice(STREAMS), self._random.choice(GROUPS)
        with self.going:
            if not self._is_whole(stream):
                self._begin(stream)
            getattr(self, f"_{kind}")(stream, group)

    def _usual(self, stream: str, group: str) -> None:
        chance = self._random.random()
        if chance < 0.35:
            self._add(stream)
        elif chance < 0.65:
            self._read(stream, group)
        elif chance < 0.87:
            self._ack(stream, group)
        elif chance < 0.93:
            self._claim(stream, group)
        else:
            self._trim(stream, group)

    def _add(self, stream: str) -> None:
        for _ in range(self._random.randint(1, 5)):
            self._do(stream, "XADD", stream, "*", "n", "1")

    def _read(self, stream: str, group: str) -> None:
        words = ("COUNT", self._random.randint(1, 6), "STREAMS", stream, ">")
        self._do(stream, "XREADGROUP", "GROUP", group, self._random.choice(CONSUMERS), *words)

    def _ack(self, stream: str, group: str) -> None:
        pending = self._pending(stream, group)
        if pending:
            some = self._random.sample(pending, min(4, len(pending)))
            self._do(stream, "XACK", stream, group, *some)

    def _claim(self, stream: str, group: str) -> None:
        pending = self._pending(stream, group)
        if pending:
            some = self._random.sample(pending, min(2, len(pending)))
            self._do(stream, "XCLAIM", stream, group, self._random.choice(CONSUMERS), 0, *some)

    def _trim(self, stream: str, group: str) -> None:  # noqa: ARG002 - as all that an operator does
        longest = self._random.choice((LONGEST, LONGEST, LONGEST // 2, 10))
        self._do(stream, "XTRIM", stream, "MAXLEN", longest)

    def _destroy(self, stream: str, group: str) -> None:
        self._do(stream, "XGROUP", "DESTROY", stream, group)
        self._do(stream, "XGROUP", "CREATE", stream, group, self._random.choice(("0", "$")))

    def _remake(self, stream: str, group: str) -> None:  # noqa: ARG002 - as above
        self._do(stream, "DEL", stream)
        self._begin(stream)

    def _rewind(self, stream: str, group: str) -> None:
        self._do(stream, "XGROUP", "SETID", stream, group, "0")

    def _forward(self, stream: str, group: str) -> None:
        self._do(stream, "XGROUP", "SETID", stream, group, "$")

    def _delete(self, stream: str, group: str) -> None:  # noqa: ARG002 - as above
        ids = self.journals[stream].now.ids
        for one in self._random.sample(ids, min(3, len(ids))):
            self._do(stream, "XDEL", stream, str(one))

    def _forget(self, stream: str, group: str) -> None:
        self._do(stream, "XGROUP", "DELCONSUMER", stream, group, self._random.choice(CONSUMERS))

    def _is_whole(self, stream: str) -> bool:
        return self.journals[stream].now.groups.keys() >= set(GROUPS)

    def _begin(self, stream: str) -> None:
        """Make what is not there."""
        for group in GROUPS:
            self._do(stream, "XGROUP", "CREATE", stream, group, "0", "MKSTREAM")

    def _pending(self, stream: str, group: str) -> list[str]:
        truth = self.journals[stream].now.groups.get(group)
        return [] if truth is None else [str(one) for one in truth.pending]

    def _do(self, stream: str, *words: str | float) -> None:
        """Do something and read what is so then, both at once; the server may refuse it.

        Raises:
            redis.RedisError: There is no reading of what is so now, until the next one.
        """
        began = wall_clock()
        pipeline = self._client.pipeline(transaction=True)
        pipeline.execute_command(*words)  # type: ignore[no-untyped-call]
        pipeline.eval(READ, 1, stream)
        try:
            _, read = pipeline.execute(raise_on_error=False)
            if isinstance(read, Exception):
                raise read
        except redis.RedisError:
            self._since.setdefault(stream, began)
            raise
        # Where an attempt before came to no answer, it may have been so ever since.
        self._note(stream, Reading(read))

    def _note(self, stream: str, now: Reading) -> None:
        """Write down what is so now, and count what that changed."""
        journal = self.journals[stream]
        before = journal.now if journal.begun else now
        journal.note(now, self._since.pop(stream, None))
        added, removed = set(now.ids).difference(before.ids), set(before.ids).difference(now.ids)
        self.done["added", stream, ""] += len(added)
        self.done["removed", stream, ""] += len(removed)
        self._gone[stream] = (self._gone[stream] | removed) - added if now.there else set()
        for group in GROUPS:
            self._count(stream, group, before.groups.get(group, NOWHERE), now.groups.get(group, NOWHERE))

    def _count(self, stream: str, group: str, before: GroupTruth, now: GroupTruth) -> None:
        """Count what changed of a group: what waited was delivered where it is pending now, and skipped where it is not.

        What was pending already, and waited again because the position was set back, is skipped where it is removed
        ahead of that. And what was removed is skipped once more where the position goes back behind it: set by somebody,
        or of an older copy that took over.
        """
        gone = set(before.waiting).difference(now.waiting)
        given = {one for one in gone.intersection(now.pending) if one <= now.position}
        back = () if now is NOWHERE else self._gone[stream]
        again = [one for one in back if now.position < one <= before.position]
        self.done["delivered", stream, group] += len(given)
        self.done["skipped", stream, group] += len(gone) - len(given) + len(again)
        # Given again where a position was set back, it is one entry of the list of pending ones.
        self.done["repeated", stream, group] += len(given.intersection(before.pending))
        self.done["acked", stream, group] += len(set(before.pending).difference(now.pending))
