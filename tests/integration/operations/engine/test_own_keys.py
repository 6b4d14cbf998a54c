"""What streamops keeps for itself, nobody changes by it: whatever the operation, and wherever its target is named."""

from datetime import timedelta
from pathlib import Path

import pytest

from streamops.errors import ExitCode, Forbidden
from streamops.model.delayed import DelayedBody
from streamops.model.entries import EntryId
from streamops.operations.ack.intent import AckIntent
from streamops.operations.console import Console
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from streamops.operations.delayed.intent import RunDelayedIntent
from streamops.operations.delayed.survey import ELSEWHERE
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.groups_destroy.intent import DestroyGroupIntent
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.publish.intent import PublishIntent
from streamops.operations.replay.intent import ReplayIntent
from streamops.operations.restore.intent import RestoreIntent
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from streamops.operations.trim.intent import TrimIntent
from streamops.wire.delayed import encode_body
from streamops.wire.keys import is_own_key
from streamops.wire.writes.audit import AUDIT
from streamops.wire.writes.jobs import JOBS, job_key
from tests.support.operations.engine.examples import (
    BODIES,
    LETTERS,
    QUEUE,
    STREAM,
    WORKSHOP,
    add_shop_with_letters_and_queue,
)
from tests.support.servers import RunningServer

FIRST = EntryId(1, 0)
PAIRS = ((b"n", b"1"),)
TARGETED = (
    DeleteIntent(stream=AUDIT, ids=(FIRST,)),
    PublishIntent(stream=AUDIT, pairs=PAIRS),
    PublishIntent(stream=AUDIT, pairs=PAIRS, maxlen=1),
    PublishIntent(stream="streamops:worker:1", pairs=PAIRS),
    TrimIntent(stream=AUDIT, maxlen=0),
    TrimIntent(stream=AUDIT, maxlen=0, safe=False),
    CreateGroupIntent(stream=AUDIT, group="g"),
    CreateGroupIntent(stream="streamops:pool:all", group="g", mkstream=True),
    RewindGroupIntent(stream=AUDIT, group="g", to_id=FIRST),
    DestroyGroupIntent(stream=AUDIT, group="g"),
    RemoveConsumerIntent(stream=AUDIT, group="g", consumer="w"),
    AckIntent(stream=AUDIT, group="g", ids=(FIRST,)),
    PurgeIntent(queue=AUDIT),
    ReplayIntent(queue=AUDIT, to=STREAM),
    ReplayIntent(queue=LETTERS, to=AUDIT),
    RunDelayedIntent(stream=AUDIT, every=True),
)


async def test_no_operation_acts_on_streamops_own_keys(server: RunningServer) -> None:
    add_shop_with_letters_and_queue(server.command)
    server.command("XADD", AUDIT, "1-0", "n", 1)
    server.command("XGROUP", "CREATE", AUDIT, "g", "0")
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        for intent in TARGETED:
            with pytest.raises(Forbidden, match="reserved for streamops") as told:
                await console.prepare(intent)
            assert (told.value.exit_code, told.value.hint[:16]) == (ExitCode.REFUSED, "Nothing was done"), (
                intent
            )
    assert server.command("XINFO", "STREAM", AUDIT)[1] == 1


async def test_publishing_to_own_keys_for_later_is_refused(server: RunningServer) -> None:
    delayed = PublishIntent(stream=AUDIT, pairs=PAIRS, delay=timedelta(hours=1))
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        with pytest.raises(Forbidden, match="reserved for streamops"):
            await console.prepare(delayed)


async def test_nor_does_a_letter_that_says_it_came_from_there(server: RunningServer) -> None:
    server.command("XADD", AUDIT, "1-0", "n", 1)
    server.command("XADD", LETTERS, "*", "n", 1, "_so_origin", AUDIT)
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        with pytest.raises(Forbidden, match="reserved for streamops"):
            await console.prepare(ReplayIntent(queue=LETTERS))


async def test_nor_a_file_that_says_its_entries_did(server: RunningServer, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    file.write_text(f'{{"id":"1-0","stream":"{AUDIT}","fields":[["n","1"]]}}\n')
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        with pytest.raises(Forbidden, match="reserved for streamops"):
            await console.prepare(RestoreIntent(file=str(file), to=AUDIT))


async def test_nor_a_delayed_message_that_goes_there(server: RunningServer) -> None:
    server.command("ZADD", QUEUE, 1, "bad")
    server.command("HSET", BODIES, "bad", encode_body(DelayedBody(AUDIT, PAIRS)))
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        prepared = await console.prepare(RunDelayedIntent(stream=STREAM, every=True))
    assert prepared.plan.count == 0
    assert any(ELSEWHERE in warning for warning in prepared.plan.warnings)
    assert server.command("ZCARD", QUEUE) == 1


@pytest.mark.parametrize(
    ("key", "own"),
    [
        (AUDIT, True),
        (JOBS, True),
        (job_key("4f1c"), True),
        ("{streamops:audit}:dlq", True),
        ("streamops", False),
        ("my:streamops:audit", False),
        ("{orders}:delayed", False),
    ],
)
def test_keys_of_streamops_are_told_from_others(key: str, *, own: bool) -> None:
    assert is_own_key(key) is own
