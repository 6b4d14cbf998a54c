"""Claims, nacks and acknowledgements by operators who are killed, done again or taken back by others, beside consumers.

The ledger is what the server said of every row before the first operator began, and what consumers have done since.
"""

from collections.abc import Sequence
from datetime import timedelta
from random import Random
from typing import NamedTuple

from streamops.errors import Forbidden
from streamops.model.entries import EntryId
from streamops.operations.ack.intent import AckIntent
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.nack.intent import NackIntent
from streamops.operations.undo.intent import UndoIntent
from streamops.wire.writes.audit import AUDIT
from tests.chaos.histories.killed import Fate, Operator, play
from tests.support.operations.doing import done, open_console
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "billing"
WORKERS, RESCUERS = ("w1", "w2", "w3"), ("r1", "r2")
ROWS = 24
MIN_IDLE = timedelta(seconds=60)
LONG = 100_000
MONTH = 30 * 86_400_000
CLOSE = 100
"""Milliseconds between two readings of the same time of delivery."""

REFUSALS = "undone already", "could be taken back", "(ack orders/billing) cannot be undone"

Intent = ClaimIntent | NackIntent | AckIntent


class Row(NamedTuple):
    """A pending row: its owner, its deliveries, and when it was delivered, in milliseconds."""

    owner: str
    deliveries: int
    delivered: int

    def is_as(self, other: "Row") -> bool:
        """Whether it has the owner, the deliveries and the time of another."""
        return self[:2] == other[:2] and abs(self.delivered - other.delivered) <= CLOSE


class History:
    """One history.

    Attributes:
        kills: How many operators were killed in it.
        changed: How many rows operators had changed when the last of them was killed.
    """

    def __init__(self, server: RunningServer, console: Console, seed: int) -> None:
        self.kills = self.changed = 0
        self._random = Random(seed)
        self._server = server
        self._console = console
        self._added: list[str] = []
        self._touched: set[str] = set()
        """Rows that consumers acknowledged, reclaimed or were given since."""
        self._acked: set[str] = set()

    async def run(self) -> None:
        """Let it happen."""
        self._fill()
        self._before = self._rows()
        busy = self._random.random() < 0.5
        intents = [self._intent(to) for to in RESCUERS[: self._random.choice((1, 1, 2))]]
        first = type(intents[0])
        intents = [one for one in intents if type(one) is first]
        self._play([self._operator(one, "ann") for one in intents], busy)
        for _ in range(self._random.randrange(3)):
            self._play([self._another(intents)], busy)
        self._check_rows()
        self.changed = sum(row != self._before.get(one) for one, row in self._rows().items())
        if self._random.random() < 0.5:
            await self._finish(intents)
            self._check_done(intents)
        else:
            await self._take_back()
            self._check_restored(acked=first is AckIntent)
        self._check_rows()

    # What operators do.

    def _intent(self, to: str) -> Intent:
        ids = tuple(map(EntryId.parse, self._random.sample(self._added, 18)))
        match self._random.choice(("claim", "claim", "claim", "ids", "nack", "ack")):
            case "nack":
                return NackIntent(stream=STREAM, group=GROUP, ids=ids)
            case "ack":
                return AckIntent(stream=STREAM, group=GROUP, ids=ids)
            case kind:
                source = self._random.choice((None, None, *WORKERS))
                named = ids if kind == "ids" else None
                return ClaimIntent(
                    stream=STREAM, group=GROUP, to=to, source=source, min_idle=MIN_IDLE, ids=named
                )

    def _another(self, intents: list[Intent]) -> Operator:
        """Who does the same again, or takes something back; and may be killed too."""
        begun = self._begun()
        what: Intent | UndoIntent = self._random.choice(intents)
        if begun and self._random.random() < 0.4:
            what = UndoIntent(audit_id=EntryId.parse(self._random.choice(begun)))
        return self._operator(what, "bob")

    def _operator(self, what: Intent | UndoIntent, user: str) -> Operator:
        return Operator(self._server.options, what, Fate.any(self._random), user)

    def _play(self, operators: list[Operator], busy: bool) -> None:  # noqa: FBT001 - private
        self.kills += play(operators, self._live) if busy else play(operators)

    def _begun(self) -> list[str]:
        """Actions that change rows, and are no undoing."""
        records = self._server.command("XRANGE", AUDIT, "-", "+")
        named = [(one.decode(), dict(zip(fields[::2], fields[1::2], strict=True))) for one, fields in records]
        return [
            one for one, fields in named if fields[b"phase"] == b"begun" and fields[b"operation"] != b"undo"
        ]

    async def _finish(self, intents: list[Intent]) -> None:
        for intent in intents:
            await done(self._console, intent)

    async def _take_back(self) -> None:
        """Take back whatever was begun and can be."""
        for action in reversed(self._begun()):
            try:
                await done(self._console, UndoIntent(audit_id=EntryId.parse(action)))
            except Forbidden as error:
                if not any(words in error.message for words in REFUSALS):
                    raise

    # What lives.

    def _fill(self) -> None:
        server = self._server
        server.flush()
        server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
        self._read(ROWS)
        for one in self._added:
            words = ("IDLE", LONG + self._random.randrange(LONG), "RETRYCOUNT", self._random.randrange(1, 4))
            server.command("XCLAIM", STREAM, GROUP, self._random.choice(WORKERS), 0, one, *words, "JUSTID")
        self._touched.clear()

    def _live(self) -> None:
        self._random.choice((self._read_one, self._acknowledge, self._reclaim))()

    def _read_one(self) -> None:
        self._read(1)

    def _read(self, count: int) -> None:
        for _ in range(count):
            self._added.append(self._server.command("XADD", STREAM, "*", "f", "v").decode())
        words = ("GROUP", GROUP, self._random.choice(WORKERS), "COUNT", count, "STREAMS", STREAM, ">")
        for _, entries in self._server.command("XREADGROUP", *words):
            self._touched |= {entry[0].decode() for entry in entries}

    def _acknowledge(self) -> None:
        one = self._random.choice(self._added)
        if self._server.command("XACK", STREAM, GROUP, one):
            self._touched.add(one)
            self._acked.add(one)

    def _reclaim(self) -> None:
        owner, minute = self._random.choice(WORKERS), MIN_IDLE // timedelta(milliseconds=1)
        words = ("XAUTOCLAIM", STREAM, GROUP, owner, minute, "0", "COUNT", 1, "JUSTID")
        self._touched |= {one.decode() for one in self._server.command(*words)[1]}

    # What must be so.

    def _rows(self) -> dict[str, Row]:
        rows = self._server.command("XPENDING", STREAM, GROUP, "-", "+", 10_000)
        seconds, micros = self._server.command("TIME")
        now = int(seconds) * 1000 + int(micros) // 1000
        return {row[0].decode(): Row(row[1].decode(), row[3], now - row[2]) for row in rows}

    def _check_rows(self) -> None:
        """No entry is lost, none is owned by whom nobody asked for, none is counted as delivered."""
        rows = self._rows()
        operators_ack = any(b"ack" in record[1] for record in self._server.command("XRANGE", AUDIT, "-", "+"))
        for one in self._added:
            assert one in rows or one in self._acked or operators_ack, f"{one} is lost"
            assert one not in rows or one not in self._acked, f"{one} is pending though acknowledged"
        for one, row in rows.items():
            was = self._before.get(one)
            assert was or one in self._touched, f"{one} came from nowhere"
            if was and one not in self._touched:
                assert row.owner in {was.owner, *RESCUERS}, f"{one}: {was} became {row}"
                assert row.deliveries == was.deliveries, f"{one}: {was} became {row}"

    def _check_done(self, intents: list[Intent]) -> None:
        """All that was asked for was done, to all that it could be done to."""
        rows = self._rows()
        for one, was in self._before.items():
            if one in self._touched:
                continue
            asked = [intent for intent in intents if _asks(intent, one, was)]
            now = rows.get(one)
            match asked:
                case []:
                    holds = now is not None and now.is_as(was)
                case [AckIntent(), *_]:
                    holds = now is None
                case [NackIntent(), *_]:
                    holds = now is not None and was.delivered - now.delivered > MONTH // 2
                case _:
                    holds = now is not None and now.owner in RESCUERS
            assert holds, f"{one}: {was} became {now}"

    def _check_restored(self, *, acked: bool) -> None:
        """Whatever operators did was taken back, owner, time of delivery and deliveries; but what they acknowledged."""
        rows = self._rows()
        for one, was in self._before.items():
            now = rows.get(one)
            holds = acked if now is None else now.is_as(was)
            assert holds or one in self._touched, f"{one}: {was} became {now}"


def _asks(intent: Intent, one: str, was: Row) -> bool:
    named = intent.ids is None or EntryId.parse(one) in intent.ids
    return named and (not isinstance(intent, ClaimIntent) or intent.source in {None, was.owner})


async def play_all(server: RunningServer, seeds: Sequence[int]) -> None:
    """Histories; what a killed operator did is gone on with or taken back."""
    kills = changed = 0
    async with await open_console(server, "eve") as console:
        for seed in seeds:
            history = History(server, console, seed)
            try:
                await history.run()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from None
            kills += history.kills
            changed += history.changed
    assert kills > len(seeds) // 4
    assert changed > len(seeds)
