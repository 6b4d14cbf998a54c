"""Reading dead-letter queues without shipping what they hold."""

from typing import Final

from streamops.model.dead_letters import LetterKind
from streamops.model.ids import EntryId
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, run_script
from streamops.wire.server import Server

BATCH: Final = 500
BATCH_BYTES: Final = 1 << 20
"""Letters and bytes that one script call looks at: a few milliseconds."""

FIRST_STEP: Final = 16
WORDS: Final = 4


class LetterCount:
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
        self.kinds: dict[LetterKind, int] = {}
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
            kind = LetterKind(*map(decode_name, flat[at : at + 3]))
            self.kinds[kind] = self.kinds.get(kind, 0) + flat[at + 3]


async def count_letters(
    server: Server, queue: str, after: EntryId, last: EntryId, limit: int
) -> LetterCount | Fault:
    """Count letters after one ID and up to another, at most ``limit`` of them.

    No permission to write is asked for where the server has the read-only form of scripts.
    """
    count, read_only = LetterCount(), True
    while not count.ended and count.letters < limit:
        start = count.last_id or after
        most = min(BATCH, limit - count.letters)
        arguments = (str(start), str(last), most, BATCH_BYTES, FIRST_STEP)
        reply = await _tally(server, Call(queue, arguments, lambda reply: reply), read_only=read_only)
        if read_only and _is_unknown(reply):
            read_only = False
            continue
        if isinstance(reply, Fault):
            return reply
        count.add(reply)
    return count


async def _tally(server: Server, call: Call, *, read_only: bool) -> Reply:
    """What one call of the script says, or a ``Fault``; raises ``ServerError`` where the node does not answer."""
    answers = await run_script(server, "tally_letters", [call], read_only=read_only)
    reply = answers.replies[0]
    if answers.failures and isinstance(reply, Exception):
        raise server.error(reply)
    return fault(reply) if isinstance(reply, Exception) else reply


def _is_unknown(reply: Reply) -> bool:
    """Whether the read-only form is not there: Redis 7.0 brought it, and a user may lack it."""
    return isinstance(reply, Fault) and (reply.kind is FaultKind.UNSUPPORTED or reply.denies_command)
