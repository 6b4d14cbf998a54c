"""Entries that wait for a slot, in the order of arrival, shared between streams by their weights."""

import asyncio
from collections import deque

from streamops.runtime.entry import Entry


class Queue:
    """The waiting entries of one stream.

    Attributes:
        weight: Its share of turns while several streams have entries waiting.
        again: Entries that were delivered before; they come first.
        fresh: Entries that were delivered for the first time.
        coming: How many are being prepared; they count as waiting.
        room: Set when there may be room for more.
    """

    def __init__(self, weight: int, room: asyncio.Event) -> None:
        self.weight = weight
        self.room = room
        self.again: deque[Entry] = deque()
        self.fresh: deque[Entry] = deque()
        self.coming = 0
        self.credit = 0

    def __len__(self) -> int:
        return len(self.again) + len(self.fresh) + self.coming


class Buffer:
    """The queues of one handler.

    Streams with entries waiting take turns by smooth weighted round robin, as in nginx: weights of 5, 3 and 2 give
    A B A C A B A B C A, and no stream starves.

    Attributes:
        suspects: Entries that are handled one at a time.
        quarantined: The suspect that is being handled; None if none is.
        apart: Entries that must be alone in a batch, set aside while another batch was filled.
    """

    def __init__(self) -> None:
        self.queues: list[Queue] = []
        self.suspects: deque[Entry] = deque()
        self.quarantined: Entry | None = None
        self.apart: deque[Entry] = deque()

    def add_queue(self, weight: int, room: asyncio.Event) -> Queue:
        """Add a queue for one more stream."""
        queue = Queue(weight, room)
        self.queues.append(queue)
        return queue

    def share(self, queue: Queue) -> float:
        """A queue's fraction of all turns while all queues have entries waiting."""
        return queue.weight / sum(each.weight for each in self.queues)

    def __len__(self) -> int:
        return sum(map(len, self.queues)) + len(self.suspects) + len(self.apart)

    def has_next(self) -> bool:
        """Whether a slot would find an entry, here or set aside."""
        return any(queue.fresh or queue.again for queue in self.queues) or bool(
            self.apart or (self.suspects and self.quarantined is None)
        )

    def take(self) -> Entry | None:
        """Take the next entry; None if none may be handled now."""
        if self.suspects and self.quarantined is None:
            self.quarantined = self.suspects.popleft()
            return self.quarantined
        queue = self.queues[0] if len(self.queues) == 1 else self._turn()
        if queue is None:
            return None
        if queue.again:
            return queue.again.popleft()
        return queue.fresh.popleft() if queue.fresh else None

    def release(self, entry: Entry) -> bool:
        """End an entry's quarantine after it was handled; whether another suspect may be taken now."""
        if self.quarantined is not entry:
            return False
        self.quarantined = None
        return bool(self.suspects)

    def ask_for_more(self) -> None:
        """Let all consumers read more, as a slot is idle."""
        for queue in self.queues:
            queue.room.set()

    def clear(self) -> None:
        """Drop all entries."""
        self.suspects.clear()
        self.apart.clear()
        for queue in self.queues:
            queue.again.clear()
            queue.fresh.clear()

    def _turn(self) -> Queue | None:
        waiting = [queue for queue in self.queues if queue.fresh or queue.again]
        if not waiting:
            return None
        for queue in waiting:
            queue.credit += queue.weight
        chosen = max(waiting, key=lambda queue: queue.credit)
        chosen.credit -= sum(queue.weight for queue in waiting)
        return chosen
