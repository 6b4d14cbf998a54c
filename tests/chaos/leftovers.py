"""What histories must not leave behind."""

from collections.abc import Mapping, Sequence

from tests.chaos.ledger import Fault
from tests.chaos.looking import (
    BODIES,
    DELAYED,
    GUARDS,
    LETTERS,
    MARKS,
    RETRIES,
    ROSTER,
    dump,
    foreign_members,
    lag,
    pid_of,
)
from tests.chaos.worker import GROUP, STREAM
from tests.support.servers import RunningServer
from tests.support.streams import consumer_names


def touched(server: RunningServer, foreign: Mapping[bytes, float], *, forgiving: bool) -> list[str]:
    """Members of the delayed queue that another program wrote and that are not as it left them.

    Args:
        server: Where.
        foreign: What was confirmed to that program.
        forgiving: Whether a fault took something away: they may be gone then, and never moved.
    """
    there = foreign_members(server)
    moved = [member for member, score in foreign.items() if member in there and there[member] != score]
    gone = [] if forgiving else [member for member in foreign if member not in there]
    return [
        *(f"a foreign member was rescored: {member!r} {there[member]}" for member in moved),
        *(f"a foreign member is gone: {member!r}" for member in gone),
    ]


def leftovers(server: RunningServer, faults: Sequence[Fault], *, forgiving: bool) -> list[str]:
    """Keys and consumers that are there though nothing is left to do, and a lag that is not 0.

    Args:
        server: Where.
        faults: What was done, for the message.
        forgiving: Whether something was taken away, so that its marks and bodies may stay until their time is over.
    """
    ask = server.command
    found = {key.decode() for key in ask("KEYS", "*")}
    allowed = {STREAM, RETRIES, LETTERS} | ({DELAYED} if foreign_members(server) else set())
    allowed |= {MARKS, BODIES} if forgiving else set()
    # Who was killed stays on the roster until it ends by itself.
    ending = {key for key in found if key.startswith(ROSTER) and ask("PTTL", key) > 0}
    strays = [key for key in found - allowed - ending if not key.startswith(GUARDS)]
    problems = [f"a key is left: {key} {dump(server, key)}" for key in strays]
    for key in (STREAM, RETRIES):
        for name in consumer_names(server, key, GROUP):
            its = [fault for fault in faults if fault.pid == pid_of(name)]
            problems.append(f"a consumer of {key} is left: {name} {its}")
    if (told := lag(ask, STREAM)) not in (0, None):
        problems.append(f"lag {told}")
    return problems
