"""Histories of operators who act on one group at once, while workers consume: two consoles, a cron job, and a ledger.

By the ledger each order is done, or is a letter, or stands in the backup of who purged it, whatever operators did; no
letter went two ways; and the audit log tells each thing that was done as it was told to who did it. More of them:
``STREAMOPS_HISTORIES=50``; the seed that a failure prints runs it again by ``STREAMOPS_HISTORIES=1 STREAMOPS_FIRST_HISTORY=n``.
"""

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest

from streamops.model.acting import AuditPhase
from streamops.operations.audit import read_audit
from streamops.runtime import Entry, Reject, Streamops
from streamops.wire.server import Server
from tests.support.operations.backups import read_backup
from tests.support.operators.cron import LONG, run_job
from tests.support.operators.desk import GROUP, LETTERS, STREAM, Desk, Told, read_book, sit_down
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "1"))
FIRST = int(os.environ.get("STREAMOPS_FIRST_HISTORY", "1"))
ORDERS, ACTS = 120, 12
"""Seconds that are long enough on any machine."""

CODES = frozenset({0, 1, 4, 5, 6})
"""Done; no such thing (any more); refused; in part; drifted. Nothing else can come of operators in each other's way."""

POLICY = f"""
[[retention]]
streams = ["{STREAM}"]
maxlen = 50
"""

CRON = (
    ("trim", "--policies", "--yes"),
    ("claim", STREAM, GROUP, "--to", "cron", "--min-idle", "0s", "--yes"),
    ("replay", LETTERS, "--mode", "retry", "--yes"),
    ("groups", "rewind", STREAM, GROUP, "--back", "5", "--yes"),
    ("consumers", "prune", STREAM, GROUP, "--idle", "1ms", "--yes"),
    ("groups", "rm", STREAM, "late", "--confirm", f"{STREAM}/late"),
)


class Shop:
    """What workers do, and what they did.

    Attributes:
        done: How often each order was done.
        ways: The entries as which each letter came back.
    """

    def __init__(self) -> None:
        self.done: Counter[int] = Counter()
        self.ways: defaultdict[bytes, set[str]] = defaultdict(set)

    def app(self, server: RunningServer) -> Streamops:
        """An application of one worker."""
        app = Streamops(server.patient_options)

        @app.handler(STREAM, group=GROUP, start="0", concurrency=4, lease=1, retry=[0.05], max_attempts=500)
        async def handle(_: dict[str, str], entry: Entry) -> None:
            number = int(entry.get("n") or b"-1")
            replayed = entry.get("_so_replay_of")
            if replayed is not None:
                self.ways[replayed].add(entry.origin_id)
            await asyncio.sleep(0.01)
            if number % 7 == 0 and replayed is None:
                raise Reject("not this one")
            if number % 5 == 0 and entry.attempt == 1:
                raise ValueError("not yet")
            self.done[number] += 1

        return app


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(FIRST, FIRST + HISTORIES))
async def test_operators_in_each_others_way(server: RunningServer, tmp_path: Path, seed: int) -> None:
    rng, shop, book = Random(seed), Shop(), tmp_path / "book"
    prepare(server)
    async with AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(working(shop.app(server)))
        desks = [
            Desk(name, 10 * seed + at, ACTS, server.patient_options, tmp_path, book)
            for at, name in enumerate(("ann", "bob"))
        ]
        operators = [sit_down(desk) for desk in desks]
        cron = asyncio.create_task(asyncio.to_thread(run_cron, server, tmp_path, rng))
        for number in range(30, ORDERS):
            server.command("XADD", STREAM, f"{number + 1}-0", "n", number)
            await asyncio.sleep(0.005)
        said = await cron
        await until(lambda: not any(one.is_alive() for one in operators), LONG)
        assert [one.exitcode for one in operators] == [0, 0]
        await until(lambda: is_idle(server, STREAM, GROUP), LONG)
    told = read_book(book)
    # Shown where the history fails.
    print(f"seed {seed}", *told, *said, sep="\n")  # noqa: T201 - see above
    check_words(told, said)
    check_orders(server, shop, tmp_path)
    await check_audit(server, told)


def prepare(server: RunningServer) -> None:
    """Orders, some of them in the hands of somebody who is gone, letters, and a group that nobody needs."""
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    server.command("XGROUP", "CREATE", STREAM, "late", "0")
    for number in range(30):
        server.command("XADD", STREAM, f"{number + 1}-0", "n", number)
    server.command("XREADGROUP", "GROUP", GROUP, "ghost", "COUNT", 20, "STREAMS", STREAM, ">")


def run_cron(server: RunningServer, directory: Path, rng: Random) -> list[tuple[Sequence[str], int, str]]:
    """What a cron job does, as command lines; what they said."""
    settings = directory / "streamops.toml"
    settings.write_text(POLICY)
    lines = [
        *rng.sample(CRON, 2),
        (
            "dlq",
            "purge",
            LETTERS,
            "--count",
            "3",
            "--backup",
            str(directory / "cron.jsonl"),
            "--confirm",
            LETTERS,
        ),
    ]
    rng.shuffle(lines)
    said: list[tuple[Sequence[str], int, str]] = []
    for line in lines:
        done = run_job(server, *line, config=settings)
        said.append((line, done.returncode, done.stderr))
    return said


def check_words(told: Sequence[Told], said: Sequence[tuple[Sequence[str], int, str]]) -> None:
    """Whoever came too late was told so in words, and by the code that belongs to it."""
    assert len(told) == 2 * ACTS
    for one in told:
        assert one.code in CODES, one
        assert (one.code == 0) == (not one.message), one
        if one.code == 6:
            assert one.hint.startswith("Nothing was done"), one
    for line, code, stderr in said:
        assert code in CODES, (line, stderr)
        assert "bug" not in stderr, (line, stderr)
        assert "Traceback" not in stderr, (line, stderr)


def check_orders(server: RunningServer, shop: Shop, directory: Path) -> None:
    """Nobody's work is lost, and no letter went two ways."""
    purged: dict[str, int] = {}
    for path in directory.glob("*.jsonl"):
        for _, entry in read_backup(path):
            assert str(entry.id) not in purged, f"{entry.id} was purged twice"
            purged[str(entry.id)] = number_of(entry.fields)
    letters = server.command("XRANGE", LETTERS, "-", "+")
    waiting = {int(dict(zip(fields[::2], fields[1::2], strict=True))[b"n"]) for _, fields in letters}
    kept = set(purged.values()) | waiting
    lost = [number for number in range(ORDERS) if not shop.done[number] and number not in kept]
    assert lost == []
    assert not {one.decode() for one in shop.ways} & purged.keys(), "a dead letter was replayed, and purged"
    assert not {ident.decode() for ident, _ in letters} & {one.decode() for one in shop.ways}
    assert {letter: ways for letter, ways in shop.ways.items() if len(ways) > 1} == {}


def number_of(fields: Sequence[tuple[bytes, bytes]]) -> int:
    return int(dict(fields)[b"n"])


async def check_audit(server: RunningServer, told: Sequence[Told]) -> None:
    """Each thing that was done stands there once from beginning to end, with the numbers that were told."""
    connected = await Server.connect(server.patient_options)
    try:
        records = await read_audit(connected, count=5_000)
    finally:
        await connected.close()
    begun = {one.id: one for one in records if one.phase is AuditPhase.BEGUN}
    ended = [one for one in records if one.phase in {AuditPhase.DONE, AuditPhase.FAILED}]
    assert Counter(one.begun_id for one in ended) == Counter(begun.keys())
    applied = {one.begun_id: one.outcome.applied for one in ended if one.outcome is not None}
    for one in told:
        if one.audit_id:
            assert applied[one.audit_id] == one.applied, one
    given_back: Counter[str] = Counter()
    for end in ended:
        for action in end.undoes:
            given_back[action] += applied[end.begun_id]
    # Two undos of one action may both come to their end: what one gave back the other left alone.
    assert [action for action, units in given_back.items() if units > applied[action]] == []
