"""What is a lot: streams, groups, pending entries, delayed messages and dead letters by the million.

Everything is made by scripts inside the server, which is the only way to have fifty million entries within minutes.
"""

import time

from streamops.model.delayed import DelayedBody
from streamops.wire.delayed import encode_body
from tests.support.servers import RunningServer

LONG, ORDERS, JOBS = "long", "orders", "jobs"
GROUP = "billing"
WORKERS = 10
LETTERS = f"{{{ORDERS}}}:dlq"
QUEUE, BODIES = f"{{{JOBS}}}:delayed", f"{{{JOBS}}}:delayed:jobs"
DEEP = "deep"
AT_ONCE = 10_000
DAY_MS = 86_400_000

_ENTRIES = """
for number = ARGV[1], ARGV[2] do
  redis.call('XADD', KEYS[1], string.format('%.0f-0', ARGV[3] + number * ARGV[4]), 'n', number)
end
"""
_PENDING = """
for number = ARGV[1], ARGV[2] do redis.call('XADD', KEYS[1], '*', 'n', number, 'body', ARGV[4]) end
local worker = string.format('worker-%d', math.floor(ARGV[1] / 1000) % ARGV[5])
redis.call('XREADGROUP', 'GROUP', ARGV[3], worker, 'COUNT', 10000, 'STREAMS', KEYS[1], '>')
"""
_DELAYED = """
for number = ARGV[1], ARGV[2] do
  redis.call('ZADD', KEYS[1], ARGV[3] + number, 'm' .. number)
  redis.call('HSET', KEYS[2], 'm' .. number, ARGV[4])
end
"""
_DEAD_LETTERS = """
for number = ARGV[1], ARGV[2] do
  redis.call('XADD', KEYS[1], '*', 'n', number, 'body', ARGV[3], '_so_origin', 'orders', '_so_origin_id',
    '1700000000000-' .. number, '_so_group', 'billing', '_so_consumer', 'worker-1', '_so_reason', 'max-deliveries',
    '_so_error', 'timeout', '_so_deliveries', '5', '_so_failed_at', '2026-01-01T00:00:00.000Z')
end
"""
_GROUPS = """
for number = ARGV[1], ARGV[2] do
  local group = 'g' .. number
  redis.call('XGROUP', 'CREATE', KEYS[1], group, ARGV[3])
  redis.call('XREADGROUP', 'GROUP', group, 'worker', 'COUNT', 1 + number % 9, 'STREAMS', KEYS[1], '>')
end
"""


def fill_long(running: RunningServer, entries: int) -> None:
    """A stream of small entries, spread over most of the last day: one group has read half of it, one nothing, one all."""
    each = max(1, DAY_MS // entries)
    began = time.time_ns() // 1_000_000 - entries * each
    _run(running, _ENTRIES, (LONG,), entries, began, each)
    half = f"{began + entries // 2 * each}-0"
    for group, position in (("half", half), ("none", "0"), ("all", "$")):
        running.command("XGROUP", "CREATE", LONG, group, position)
    running.command("XREADGROUP", "GROUP", "half", "worker-0", "COUNT", 100, "STREAMS", LONG, ">")


def fill_pending(running: RunningServer, entries: int) -> None:
    """A stream all of whose entries are pending, with ten workers."""
    running.command("XGROUP", "CREATE", ORDERS, GROUP, "0", "MKSTREAM")
    _run(running, _PENDING, (ORDERS,), entries, GROUP, "x" * 60, WORKERS, at_once=1_000)


def fill_delayed(running: RunningServer, messages: int) -> None:
    """A queue of messages that are due from an hour from now on."""
    running.command("XADD", JOBS, "*", "n", 0)
    running.command("XGROUP", "CREATE", JOBS, GROUP, "$")
    body = encode_body(DelayedBody(JOBS, ((b"data", b"x" * 64),)))
    due = time.time_ns() // 1_000_000 + DAY_MS // 24
    _run(running, _DELAYED, (QUEUE, BODIES), messages, due, body)


def fill_letters(running: RunningServer, letters: int) -> None:
    """Dead letters of one stream."""
    running.command("XADD", ORDERS, "*", "n", 0)
    running.command("XGROUP", "CREATE", ORDERS, GROUP, "$")
    _run(running, _DEAD_LETTERS, (LETTERS,), letters, "x" * 60)


def fill_wide(running: RunningServer, groups: int) -> None:
    """So many groups, two of them on each stream, which all lag and have pending entries."""
    pipeline = running.client.pipeline(transaction=False)
    for number in range(groups // 2):
        name = f"shop:{number}"
        for each in range(4):
            pipeline.xadd(name, {"n": each})
        for group in ("billing", "mail"):
            pipeline.xgroup_create(name, group, "0")
            pipeline.xreadgroup(group, "worker-0", {name: ">"}, count=2)
        if number % 500 == 0:
            pipeline.execute()
    pipeline.execute()


def fill_deep(running: RunningServer, groups: int) -> None:
    """One stream with all the groups there are, which lag, have pending entries, and need half of it no more."""
    for each in range(1, 401):
        running.command("XADD", DEEP, f"{each}-0", "n", each)
    _run(running, _GROUPS, (DEEP,), groups, "200-0", at_once=500)


def _run(
    running: RunningServer,
    script: str,
    keys: tuple[str, ...],
    count: int,
    *arguments: str | bytes | float,
    at_once: int = AT_ONCE,
) -> None:
    """Call a script for the numbers from 1 on, some thousands at a time."""
    for first in range(1, count + 1, at_once):
        last = min(first + at_once - 1, count)
        running.command("EVAL", script, len(keys), *keys, first, last, *arguments)
