"""Traps that other runtimes fell into, and that only real worker processes show."""

from pathlib import Path

from tests.chaos.history import History
from tests.chaos.ledger import Word, read
from tests.chaos.worker import Post
from tests.support.servers import RunningServer


async def test_a_poisonous_entry_brings_down_no_more_workers_than_it_has_attempts(
    server: RunningServer, tmp_path: Path
) -> None:
    async with History(server, tmp_path, Post(most=3, concurrency=2, prefetch=5)) as history:
        history.publish("poison", "p")
        for number in range(20):
            history.publish("ok", f"o{number}")
        await history.join()
        await history.settle()
        starts = [line for line in read(history.post.ledger) if line.word is Word.START and line.key == "p"]
        assert [line.attempt for line in starts] == [1, 2, 3]
        assert sum(fault.kind == "death" for fault in history.faults) == 3
        assert [letter.reason for letter in history.letters()] == ["max-deliveries"]
