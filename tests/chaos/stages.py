"""Servers that histories take place on: what each keeps, who stands by for it, whose clock it goes by."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from tests.chaos.clocks import ServerClock, wrapped
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer

ALWAYS = ("--appendonly", "yes", "--appendfsync", "always")
EVERY_SECOND = ("--appendonly", "yes", "--appendfsync", "everysec")


class Stage(Struct, frozen=True):
    """What there is beside a history's server.

    Attributes:
        kept: Where it keeps what it is to know again; none where it keeps nothing.
        standby: Its replica; none where it has none.
        clock: Its clock; none where nobody can set it.
    """

    kept: Path | None = None
    standby: RunningServer | None = None
    clock: ServerClock | None = None

    @property
    def log(self) -> Path | None:
        """The file that every write is added to; none where there is none."""
        if self.kept is None:
            return None
        single = self.kept / "appendonly.aof"
        return single if single.is_file() else max(self.kept.glob("*/*.incr.aof"), default=None)


@contextmanager
def set_up(
    program: ServerProgram,
    directory: Path,
    args: tuple[str, ...],
    *,
    standby: bool = False,
    clock: bool = False,
) -> Iterator[tuple[RunningServer, Stage]]:
    """Start a server, and what belongs beside it.

    Args:
        program: Which one.
        directory: Where files may be kept.
        args: Its configuration.
        standby: Whether it has a replica.
        clock: Whether its clock can be set.
    """
    kept = directory / "kept"
    kept.mkdir()
    with ExitStack() as running:
        dial = ServerClock(directory) if clock else None
        program = wrapped(program, directory, clock=clock)
        # A replica that has just come waits for no others.
        args = ("--dir", str(kept), "--repl-diskless-sync-delay", "0", *args)
        server = running.enter_context(RunningServer(program, *args))
        replica = None
        if standby:
            follow = ("--repl-diskless-sync-delay", "0", "--replicaof", "127.0.0.1", str(server.port))
            replica = running.enter_context(RunningServer(program, *follow))
        yield server, Stage(kept, replica, dial)
