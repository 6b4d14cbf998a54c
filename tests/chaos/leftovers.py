"""What histories must not leave behind."""

from collections.abc import Sequence

from tests.chaos.ledger import Fault
from tests.chaos.looking import BODIES, GUARDS, LETTERS, MARKS, RETRIES, ROSTER, consumers, dump, lag, pid_of
from tests.chaos.worker import STREAM
from tests.support.servers import RunningServer


def leftovers(server: RunningServer, faults: Sequence[Fault], *, forgiving: bool) -> list[str]:
    """Keys and consumers that are there though nothing is left to do, and a lag that is not 0.

    Args:
        server: Where.
        faults: What was done, for the message.
        forgiving: Whether something was taken away, so that its marks and bodies may stay until their time is over.
    """
    ask = server.command
    found = {key.decode() for key in ask("KEYS", "*")}
    allowed = {STREAM, RETRIES, LETTERS} | ({MARKS, BODIES} if forgiving else set())
    # Who was killed stays on the roster until it ends by itself.
    ending = {key for key in found if key.startswith(ROSTER) and ask("PTTL", key) > 0}
    strays = [key for key in found - allowed - ending if not key.startswith(GUARDS)]
    problems = [f"a key is left: {key} {dump(server, key)}" for key in strays]
    for key in (STREAM, RETRIES):
        for name in consumers(server, key):
            its = [fault for fault in faults if fault.pid == pid_of(name)]
            problems.append(f"a consumer of {key} is left: {name} {its}")
    if (told := lag(ask, STREAM)) not in (0, None):
        problems.append(f"lag {told}")
    return problems
