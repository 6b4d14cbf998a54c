"""Random histories of claims and nacks, their undoing, and acknowledgements, beside live consumers and another operator.

A ledger holds every write of an operator against the state just before it: no row moves that should not, none is
counted as delivered, none is lost.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from random import Random
from typing import Any, NamedTuple

import pytest

from streamops.errors import StreamopsError, Unreachable
from streamops.model.entries import EntryId
from streamops.model.pending import PendingChange
from streamops.operations import running
from streamops.operations.ack import run as ack
from streamops.operations.ack.intent import AckIntent
from streamops.operations.claim import run as claiming
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.nack import run as nack
from streamops.operations.nack.intent import NackIntent
from streamops.operations.undo import run as undo
from streamops.operations.undo.intent import UndoIntent
from streamops.wire.pending import Claimable
from tests.support.operations.doing import done, open_console
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "billing"
WORKERS, RESCUERS = ("w1", "w2", "w3"), ("r1", "r2")
NAMES = (*WORKERS, *RESCUERS)
LONG = 100_000
MIN_IDLE = timedelta(seconds=60)
Written = Callable[..., Awaitable[Any]]
Watching = Callable[["Rows", "Rows", tuple[Any, ...], dict[str, Any]], None]


class Row(NamedTuple):
    """A pending row as the server tells it."""

    owner: str
    idle: int
    deliveries: int


Rows = dict[str, Row]


class History:
    """One random history.

    Attributes:
        moves: How many rows operators moved in it.
    """

    def __init__(self, server: RunningServer, consoles: tuple[Console, Console], seed: int) -> None:
        self.random = Random(seed)
        self.moves = 0
        self._server = server
        self._consoles = consoles
        self._added: list[str] = []
        self._acked: set[str] = set()
        self._deleted: set[str] = set()
        self._actions: list[str] = []
        self._one_at_a_time = asyncio.Lock()
        self._wrong: list[str] = []

    async def run(self) -> None:
        """Let it happen."""
        self._server.flush()
        self._server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
        for _ in range(3):
            self.live(8)
            await asyncio.gather(*(self._operate(console) for console in self._consoles))
        self.check()

    def check(self) -> None:
        """Every entry is acknowledged, pending, or still to be delivered; nothing was moved wrongly."""
        assert not self._wrong, self._wrong
        rows = self._rows()
        position = self._position()
        for one in self._added:
            pending, waits = one in rows, EntryId.parse(one) > position
            assert pending or waits or one in self._acked | self._deleted, f"{one} is lost"
            assert not (pending and one in self._acked), f"{one} is pending though acknowledged"

    def patch(self, patched: pytest.MonkeyPatch) -> None:
        """Put the ledger around every write, and make the batches small."""
        for name in ("FIRST", "LARGEST", "NAMED"):
            patched.setattr(claiming, name, 3)
        patched.setattr(running, "ROWS_GATHERED", 7)
        for module in (ack, nack):
            patched.setattr(module, "BATCH", 2)
        patched.setattr(undo, "ROWS", 2)
        for module, name, watching in (
            (claiming, "claim_page", self._watch_claim),
            (claiming, "claim_ids", self._watch_claim),
            (nack, "nack", self._watch_nack),
            (ack, "ack", self._watch_ack),
            (undo, "restore_rows", self._watch_undo),
        ):
            patched.setattr(module, name, self._wrap(getattr(module, name), watching))

    def live(self, steps: int) -> None:
        """What producers and consumers do, and time."""
        doing = (self._read, self._read, self._acknowledge, self._reclaim, self._grow_old, self._grow_old)
        for _ in range(steps):
            self.random.choice((*doing, *doing, self._delete, self._rewind))()

    async def _live_beside(self, steps: int) -> None:
        async with self._one_at_a_time:
            self.live(self.random.randrange(steps))

    def _wrap(self, write: Written, watching: Watching) -> Written:
        """A write with life before and after it, sometimes sent twice, sometimes without a reply, watched."""

        async def watched(*args: Any, **named: Any) -> Any:  # noqa: ANN401 - as the write
            async with self._one_at_a_time:
                before = self._rows()
                told = await write(*args, **named)
                watching(before, self._rows(), args, named)
                return told

        async def written(*args: Any, **named: Any) -> Any:  # noqa: ANN401 - the same
            await asyncio.sleep(0)
            await self._live_beside(3)
            told = await watched(*args, **named)
            if self.random.random() < 0.15:
                told = await watched(*args, **named)
            if self.random.random() < 0.05:
                raise Unreachable("the reply was lost")
            await self._live_beside(2)
            return told

        return written

    async def _operate(self, console: Console) -> None:
        """What an operator does; a refusal is an answer too."""
        try:
            intent = self._intent()
            self._actions.append((await done(console, intent)).audit_id)
        except StreamopsError as error:
            outcome = getattr(error, "outcome", None)
            if outcome is not None:
                self._actions.append(outcome.audit_id)

    def _intent(self) -> ClaimIntent | NackIntent | AckIntent | UndoIntent:
        choose = self.random.choice
        some = tuple(EntryId.parse(one) for one in self.random.sample(self._added, min(5, len(self._added))))
        actions = [one for one in self._actions if one]
        kind = choose(("claim", "claim", "claim", "claim ids", "nack", "ack", "undo", "undo"))
        if kind == "undo" and actions:
            return UndoIntent(audit_id=EntryId.parse(choose(actions)))
        if kind == "nack":
            return NackIntent(stream=STREAM, group=GROUP, ids=some, source=choose((None, *WORKERS)))
        if kind == "ack":
            return AckIntent(stream=STREAM, group=GROUP, ids=some[:2])
        return ClaimIntent(
            stream=STREAM,
            group=GROUP,
            to=choose(RESCUERS),
            source=choose((None, *WORKERS)),
            min_idle=MIN_IDLE,
            ids=some if kind == "claim ids" else None,
            count=choose((None, None, 4)),
        )

    # What the ledger checks.

    def _watch_claim(self, before: Rows, after: Rows, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        what: Claimable = args[1]
        moved = [one for one, row in before.items() if not _same(row, after.get(one))]
        self.moves += len(moved)
        for one in moved:
            was, now = before[one], after.get(one)
            if was.owner == what.to or what.source not in {None, was.owner} or was.idle < LONG // 2:
                self._blame("claimed", one, was)
            if now is None and one not in self._deleted:
                self._blame("lost by a claim", one, was)
            if now is not None and (now.owner != what.to or now.deliveries != was.deliveries):
                self._blame("changed by a claim", one, was)
            if "until" in named and EntryId.parse(one) > named["until"]:
                self._blame("beyond the plan", one, was)
        if len(moved) > named.get("most", len(moved)):
            self._blame("more than the plan", str(len(moved)), None)

    def _watch_nack(self, before: Rows, after: Rows, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        del named
        owners = {str(row.id): row.consumer for row in args[3]}
        for one, was in before.items():
            now = after.get(one)
            if now is None and one in owners and one in self._deleted:
                continue
            if now is None or (now.owner, now.deliveries) != (was.owner, was.deliveries):
                self._blame("changed by a nack", one, was)
            elif now.idle > was.idle + LONG and owners.get(one) != was.owner:
                self._blame("given back", one, was)

    def _watch_ack(self, before: Rows, after: Rows, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        del named
        vanished = before.keys() - after.keys()
        self._acked |= vanished
        planned = {str(row.id): row for row in args[3]}
        for one in vanished:
            was, row = before[one], planned.get(one)
            if row is None or was.owner != row.consumer or was.deliveries > row.delivery_count:
                self._blame("acknowledged", one, was)

    def _watch_undo(self, before: Rows, after: Rows, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        then = {str(row.id): row for row in args[3]}
        changed = [one for one in before.keys() | after.keys() if not _same(before.get(one), after.get(one))]
        if not named["writes"] and changed:
            self._blame("written while looking", changed[0], None)
        for one in changed:
            was, now, meant = before.get(one), after.get(one), then.get(one)
            if meant is None or (now is None and one not in self._deleted):
                self._blame("changed by an undo", one, was)
            elif now is not None and (now.owner, now.deliveries) != (meant.consumer, meant.delivery_count):
                self._blame("restored otherwise", one, now)
            elif was is None:
                self._blame("revived", one, now)
            elif not self._may_restore(was, meant.consumer, meant.delivery_count, named):
                self._blame("restored", one, was)

    @staticmethod
    def _may_restore(was: Row, owner: str, deliveries: int, named: dict[str, Any]) -> bool:
        holder = named["holder"] if named["done"] is PendingChange.CLAIMED else owner
        return (was.owner, was.deliveries) == (holder, deliveries)

    def _blame(self, what: str, one: str, row: Row | None) -> None:
        self._wrong.append(f"{what}: {one} {row}")

    # What lives.

    def _read(self) -> None:
        for _ in range(self.random.randrange(3)):
            self._added.append(self._server.command("XADD", STREAM, "*", "f", "v").decode())
        words = ("GROUP", GROUP, self.random.choice(WORKERS), "COUNT", 2, "STREAMS", STREAM, ">")
        for _, entries in self._server.command("XREADGROUP", *words) or ():
            self._acked -= {entry[0].decode() for entry in entries}

    def _acknowledge(self) -> None:
        rows = self._server.command("XPENDING", STREAM, GROUP, "-", "+", 1, self.random.choice(NAMES))
        for row in rows:
            self._server.command("XACK", STREAM, GROUP, row[0])
            self._acked.add(row[0].decode())

    def _reclaim(self) -> None:
        minute = MIN_IDLE // timedelta(milliseconds=1)
        self._server.command("XAUTOCLAIM", STREAM, GROUP, self.random.choice(NAMES), minute, "0", "COUNT", 1)

    def _grow_old(self) -> None:
        """Time passes for all rows of a consumer."""
        name = self.random.choice(NAMES)
        for row in self._server.command("XPENDING", STREAM, GROUP, "-", "+", 20, name):
            self._server.command("XCLAIM", STREAM, GROUP, name, 0, row[0], "IDLE", LONG, "JUSTID")

    def _delete(self) -> None:
        if self.random.random() < 0.5 and self._added:
            one = self.random.choice(self._added)
            self._server.command("XDEL", STREAM, one)
            self._deleted.add(one)

    def _rewind(self) -> None:
        """Back, never forward: that would skip entries, which is nobody's loss here."""
        position = self._position()
        behind = [one for one in self._added if EntryId.parse(one) <= position]
        if self.random.random() < 0.1 and behind:
            self._server.command("XGROUP", "SETID", STREAM, GROUP, self.random.choice(behind))

    def _rows(self) -> Rows:
        rows = self._server.command("XPENDING", STREAM, GROUP, "-", "+", 10_000)
        return {row[0].decode(): Row(row[1].decode(), row[2], row[3]) for row in rows}

    def _position(self) -> EntryId:
        flat = self._server.command("XINFO", "GROUPS", STREAM)[0]
        return EntryId.parse(flat[flat.index(b"last-delivered-id") + 1])


def _same(was: Row | None, now: Row | None) -> bool:
    """Whether nobody touched a row: the same owner and deliveries, and no younger, and not much older."""
    if was is None or now is None:
        return was is now
    close = was.idle <= now.idle < was.idle + LONG // 2
    return close and (was.owner, was.deliveries) == (now.owner, now.deliveries)


async def play(server: RunningServer, seeds: Sequence[int]) -> None:
    """Histories of two operators; the first that does not hold fails with its seed."""
    moves = 0
    async with await open_console(server, "ann") as ann, await open_console(server, "bob") as bob:
        for seed in seeds:
            history = History(server, (ann, bob), seed)
            try:
                with pytest.MonkeyPatch.context() as patched:
                    history.patch(patched)
                    await history.run()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from None
            moves += history.moves
    assert moves >= len(seeds) // 4
