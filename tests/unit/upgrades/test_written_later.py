"""What a version to come may write is refused in words, or what is not known of it is left out: never misread, no crash.

One row a format that streamops keeps; docs/formats.md says how each is versioned. The rows of a format in which
something may only be added show the addition left out; those of one with a number show the number refused.
"""

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import pytest

from streamops.autoscaling.history import read_history
from streamops.autoscaling.policy.state import ScalingState
from streamops.errors import Forbidden, StreamopsError, UnexpectedReply
from streamops.model.acting import AuditPhase
from streamops.model.dead_letters import read_dead_letter
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.pools import PoolMode, RegisteredWorker, WorkerState
from streamops.operations.audit import decode_record
from streamops.operations.backups import parse_line, taken_back
from streamops.operations.packing import pack, unpack, unpack_asked
from streamops.operations.replay.intent import ReplayIntent
from streamops.operations.undo_snapshots import unpack_pages
from streamops.wire.consuming.heartbeats import decode_heartbeat
from streamops.wire.delayed import decode_body
from streamops.wire.faults import Fault
from streamops.wire.pools.records import decode_pool
from streamops.wire.pools.registry import decode_worker
from streamops.wire.topics import decode_topic
from streamops.wire.writes.jobs import decode_job
from tests.support.invented import NOW
from tests.support.tables import table

ID = EntryId(1_700_000_000_000, 0)


def flat(told: dict[str, object]) -> list[bytes]:
    """A hash as HGETALL tells it."""
    return [
        str(part).encode() if not isinstance(part, bytes) else part for pair in told.items() for part in pair
    ]


HEART = {
    "v": 1, "host": "h", "pid": 7, "app": "shop:app", "pool": "p", "consumers": "[]", "slots": 4, "busy": 1,
    "state": "running", "beat_ms": 5,
}  # fmt: skip
JOB = {"v": 1, "operation": "replay", "target": "q", "state": "running", "cursor": "5-0", "applied": 3}
POOL = {"mode": "paused", "desired": 3, "desired_by": "ann"}
ASKED = pack(ReplayIntent(queue="q:dlq"))
LATER_ASKED = msgspec.json.encode({**msgspec.json.decode(ASKED), "only_before": "5-0"})
DECISION: dict[str, Any] = {
    "at": "2026-11-22T00:00:00Z", "code": "backlog", "text": "t", "ordered": 1, "ready": 1, "target": 2,
}  # fmt: skip


class Known(NamedTuple):
    """A later version's addition, and what has to come out as if it were not there."""

    now: Callable[[], object]
    later: Callable[[], object]


ADDED: dict[str, Known] = {
    "worker heartbeat": Known(
        lambda: decode_heartbeat("w", flat(HEART)), lambda: decode_heartbeat("w", flat({**HEART, "gpu": "2"}))
    ),
    "roster": Known(
        lambda: decode_worker("w", "5 4 1 2.5 running"),
        lambda: decode_worker("w", "5 4 1 2.5 running gpu=2 x"),
    ),
    "job": Known(
        lambda: decode_job("j", flat(JOB), NOW), lambda: decode_job("j", flat({**JOB, "nice": "3"}), NOW)
    ),
    "pool": Known(
        lambda: decode_pool("p", flat(POOL)), lambda: decode_pool("p", flat({**POOL, "night_shift": "2"}))
    ),
    "decision": Known(
        lambda: decode_pool("p", flat({"decision": msgspec.json.encode(DECISION)})),
        lambda: decode_pool("p", flat({"decision": msgspec.json.encode({**DECISION, "colour": "red"})})),
    ),
    "decision of a rule that is not known": Known(
        lambda: decode_pool("p", []),
        lambda: decode_pool("p", flat({"decision": msgspec.json.encode({**DECISION, "code": "tide"})})),
    ),
    "learned": Known(
        ScalingState,
        lambda: msgspec.msgpack.decode(msgspec.msgpack.encode({"moon": [1, 2]}), type=ScalingState),
    ),
    "topic": Known(
        lambda: decode_topic("t", b'{"v":1,"url":"http://h/"}'),
        lambda: decode_topic("t", b'{"v":1,"url":"http://h/","nice":true}'),
    ),
    "dead letter": Known(
        lambda: letter().fields, lambda: tuple(one for one in letter((b"_so_mood", b"bad")).fields if one[0] != b"_so_mood")
    ),
    "audit record": Known(
        lambda: decode_record(record(phase=b"done", operation=b"ack")),
        lambda: decode_record(record(phase=b"done", operation=b"ack", mood=b"good")),
    ),
    "line of a backup": Known(
        lambda: parse_line(b'{"stream":"s","id":"1-0","fields":[["a","b"]]}'),
        lambda: parse_line(b'{"stream":"s","id":"1-0","fields":[["a","b"]],"ttl":5}'),
    ),
    "line that takes back": Known(
        lambda: taken_back([b'{"not_deleted":["1-0"]}\n']),
        lambda: taken_back([b'{"not_deleted":["1-0"],"why":"it changed"}\n']),
    ),
}  # fmt: skip


def letter(*more: tuple[bytes, bytes]) -> Any:  # noqa: ANN401 - as tests need it
    fields = ((b"n", b"1"), (b"_so_origin", b"orders"), (b"_so_reason", b"timeout"), *more)
    return read_dead_letter(StreamEntry(ID, fields), "orders:dlq", "orders")


def record(**fields: bytes) -> StreamEntry:
    return StreamEntry(ID, tuple((name.encode(), value) for name, value in fields.items()))


@table("known", ADDED.values())
def test_what_was_added_is_left_out(known: Known) -> None:
    assert known.now() is not None
    assert known.later() == known.now()


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "delayed message": (
        lambda: decode_body(msgspec.msgpack.encode([2, "orders", "", 0, "", ["f", "v"]])), ValueError, "version 2",
    ),
    "delayed message of another shape": (
        lambda: decode_body(msgspec.msgpack.encode([3, {"to": "orders"}])), ValueError, "version 3",
    ),
    "topic": (lambda: decode_topic("t", b'{"v":2,"url":["http://h/"]}'), ValueError, "url|version"),
    "topic of the same shape": (lambda: decode_topic("t", b'{"v":2,"url":"http://h/"}'), ValueError, "version 2"),
    "intent with a word more": (
        lambda: unpack_asked(ReplayIntent, LATER_ASKED, "job x", "Go on with that version."),
        Forbidden, "job x was begun by another version",
    ),
    "rows to undo": (
        lambda: unpack_pages(zlib.compress(msgspec.msgpack.encode([[5, ["61"], ["1-0"], [0, 1, 1, 0], "more"]]))),
        UnexpectedReply, "what undoing needs",
    ),
    "packed by another method": (lambda: unpack(ReplayIntent, b"\x28\xb5\x2f\xfd zstd"), UnexpectedReply, "a record"),
    "learned": (
        lambda: msgspec.msgpack.decode(msgspec.msgpack.encode({"rates": "fast"}), type=ScalingState),
        msgspec.DecodeError, "Expected `array`",
    ),
    "line of a backup": (lambda: parse_line(b'{"v":2,"gone":"1-0"}'), ValueError, "stream"),
    "history": (lambda: read_history(["v,2", "moon,tide"], "h.csv"), StreamopsError, "h.csv"),
}  # fmt: skip


@table(("read", "kind", "words"), REFUSED.values())
def test_what_cannot_be_understood_is_refused(
    read: Callable[[], object], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        read()


def test_an_intent_with_a_word_more_is_shown_but_not_gone_on_with() -> None:
    """To show it, what is known of it will do; to act on it, the rest may be what narrows it."""
    assert unpack(ReplayIntent, LATER_ASKED) == ReplayIntent(queue="q:dlq")
    assert unpack_asked(ReplayIntent, ASKED, "job x", "") == ReplayIntent(queue="q:dlq")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"v": 2}, "version 2 of the format"),
        ({"v": "x" * 9}, "another version"),
        ({"state": "resting"}, "no job"),
    ],
)
def test_a_job_of_a_later_version_is_a_fault_in_words(told: dict[str, object], said: str) -> None:
    job = decode_job("j", flat({**JOB, **told}), NOW)
    assert isinstance(job, Fault)
    assert said in job.reason


def test_a_worker_in_a_state_that_is_not_known_is_there_all_the_same() -> None:
    heart, worker = (
        decode_heartbeat("w", flat({**HEART, "state": "resting"})),
        decode_worker("w", "5 4 1 2.5 resting"),
    )
    assert heart is not None
    assert isinstance(worker, RegisteredWorker)
    assert {heart.state, worker.state} == {WorkerState.OTHER}


def test_a_pool_that_was_told_something_new_keeps_its_word() -> None:
    """Its workers stay as they are: they know but two."""
    pool = decode_pool("p", flat({**POOL, "mode": "drained"}))
    assert pool.mode == "drained"
    assert pool.mode not in frozenset(PoolMode)


def test_a_phase_of_the_audit_log_that_is_not_known_is_an_action_of_its_own() -> None:
    read = decode_record(record(phase=b"reviewed", begun=b"5-0", operation=b"ack", plan=b"\x93what"))
    assert (read.phase, read.begun_id, read.operation, read.plan) == (AuditPhase.OTHER, str(ID), "ack", None)
