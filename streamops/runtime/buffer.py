"""Entries that were read and wait for a slot: in the order of arrival, or by the weights of their streams."""

import asyncio
from collections import deque

from streamops.runtime.entry import Entry


class Queue:
    """What one stream has waiting.

    Attributes:
        weight: Its share where several streams have entries waiting.
        again: Entries delivered before; they come first.
        fresh: The others.
        coming: How many are on their way here, and count as if they were.
        room: Set where there may be room for more.
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

    Where several have entries waiting, each gets its share of turns by smooth weighted round robin (as nginx
    does it): weights of 5, 3 and 2 give A B A C A B A B C A, and no stream is ever left out.

    Attributes:
        suspects: Entries that are handled one at a time.
        quarantined: The one of them that is being handled; none where none is.
        apart: Entries that go with no others into a batch, and that a batch met.
    """

    def __init__(self) -> None:
        self.queues: list[Queue] = []
        self.suspects: deque[Entry] = deque()
        self.quarantined: Entry | None = None
        self.apart: deque[Entry] = deque()

    def add_queue(self, weight: int, room: asyncio.Event) -> Queue:
        """A queue for one more stream."""
        queue = Queue(weight, room)
        self.queues.append(queue)
        return queue

    def share(self, queue: Queue) -> float:
        """The part of all turns that is a queue's while all have entries waiting."""
        return queue.weight / sum(each.weight for each in self.queues)

    def __len__(self) -> int:
        return sum(map(len, self.queues)) + len(self.suspects) + len(self.apart)

    def has_next(self) -> bool:
        """Whether ``take`` would give one."""
        return any(queue.fresh or queue.again for queue in self.queues) or bool(
            self.apart or (self.suspects and self.quarantined is None)
        )

    def take(self) -> Entry | None:
        """The next entry; none where none may be handled now."""
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
        """An entry was handled; whether that was the one alone, and another may have its turn."""
        if self.quarantined is not entry:
            return False
        self.quarantined = None
        return bool(self.suspects)

    def ask_for_more(self) -> None:
        """A slot has nothing to do."""
        for queue in self.queues:
            queue.room.set()

    def clear(self) -> None:
        """Take all of them out, at once."""
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
