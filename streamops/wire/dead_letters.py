"""Reading dead-letter queues without shipping what they hold."""

from typing import Final

from streamops.model.dead_letters import DeadLetterKind
from streamops.model.entries import EntryId
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, read_script
from streamops.wire.server import Server

BATCH: Final = 500
BATCH_BYTES: Final = 1 << 20
"""Letters and bytes that one script call looks at: a few milliseconds."""

FIRST_STEP: Final = 16
WORDS: Final = 4


class DeadLetterCounter:
    """Letters of a range, counted by kind as the pages come in.

    Attributes:
        letters: How many.
        kinds: How many of each kind.
        payloads: How many refer to a payload.
        last_id: The last one's ID; none before the first.
        ended: Whether the end of the range was reached.
    """

    def __init__(self) -> None:
        self.letters = 0
        self.kinds: dict[DeadLetterKind, int] = {}
        self.payloads = 0
        self.last_id: EntryId | None = None
        self.ended = False

    def add(self, reply: Reply) -> None:
        """Count a page as the script told it."""
        counted, last, _, ended, payloads, flat = reply
        self.letters += counted
        self.payloads += payloads
        self.ended = bool(ended)
        if counted:
            self.last_id = EntryId.parse(last)
        for at in range(0, len(flat), WORDS):
            kind = DeadLetterKind(*map(decode_name, flat[at : at + 3]))
            self.kinds[kind] = self.kinds.get(kind, 0) + flat[at + 3]


async def count_dead_letters(
    server: Server, queue: str, after: EntryId, last: EntryId, limit: int
) -> DeadLetterCounter:
    """Count letters after one ID and up to another, at most ``limit`` of them.

    Raises:
        ServerError: They cannot be read.
    """
    count = DeadLetterCounter()
    while not count.ended and count.letters < limit:
        start = count.last_id or after
        most = min(BATCH, limit - count.letters)
        arguments = (str(start), str(last), most, BATCH_BYTES, FIRST_STEP)
        call = Call(queue, arguments, _as_it_is)
        count.add(await read_script(server, "count_dead_letters", call, f"queue {queue}"))
    return count


def _as_it_is(reply: Reply) -> Reply:
    return reply
