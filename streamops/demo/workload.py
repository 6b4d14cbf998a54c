"""``python -m streamops.demo.workload --url URL``: a small shop's streams, live, on an empty server.

The cast. Everything is seeded, so that two runs tell the same stories:

``orders:events``, 40 entries a second, swelling and ebbing by a quarter:
    ``billing`` is healthy: two consumers keep up.
    ``shipping`` is too slow: it handles 25 a second, its lag grows; after 45 seconds a second consumer
    helps out until the lag is gone, then leaves again.
    ``analytics`` works in batches every 20 seconds: its lag is a saw.
    ``fraud`` meets an order it cannot read every 100 seconds and tries it every 5 seconds; after 20
    deliveries the order moves to ``{orders:events}:dlq``. The first stands at 11 when the demo starts.
``payments:events``, 3 a second:
    ``ledger`` has a live consumer and one that crashed 17 minutes ago and left 37 entries pending;
    ``{payments:events}:dlq`` holds seven dead letters of the last hours.
``audit:events``, 1 a second:
    ``archiver`` was created and never had a consumer.
``inventory:counts``, one in 5 seconds:
    ``warehouse`` is quiet and healthy.
``emails:outgoing``, 4 in 5 seconds:
    ``mailer`` is healthy; its mails hold markup, control sequences, invalid UTF-8 and large bodies.

It ends with exit code 0 on SIGTERM and with 3 when the server goes away. Memory is bounded: every stream is
trimmed as entries are added.
"""

import argparse
import asyncio
import signal
import sys
from datetime import timedelta
from random import Random

from msgspec.structs import replace

from streamops.demo.actors import DemoWorker, check_fraud, poison, produce, work_in_batches, work_steadily
from streamops.demo.client import DemoClient
from streamops.demo.dead_letters import dead_letter_stream
from streamops.demo.history import write_history
from streamops.demo.sources import EMAILS, INVENTORY, ORDERS, PAYMENTS, SOURCES
from streamops.errors import ExitCode, SettingsError, StreamopsError
from streamops.model.streams import Mode
from streamops.wire.faults import RedisError, server_error
from streamops.wire.options import ConnectionOptions
from streamops.wire.urls import parse_url

READY = "ready"
"""Printed once the history is written and the cast is at work."""

SEED = 7

BILLING = tuple(
    DemoWorker(ORDERS.stream, "billing", f"billing-{number}", batch=5, effort=timedelta(milliseconds=10))
    for number in (1, 2)
)
SHIPPING = DemoWorker(ORDERS.stream, "shipping", "shipping-1", batch=6, effort=timedelta(milliseconds=40))
SHIPPING_HELP = DemoWorker(
    ORDERS.stream, "shipping", "shipping-2", batch=20, effort=timedelta(milliseconds=7)
)
ANALYTICS = DemoWorker(
    ORDERS.stream, "analytics", "analytics-batch", batch=200, effort=timedelta(milliseconds=1)
)
FRAUD = DemoWorker(ORDERS.stream, "fraud", "fraud-1", batch=20, effort=timedelta(milliseconds=2))
LEDGER = DemoWorker(PAYMENTS.stream, "ledger", "ledger-1", batch=5, effort=timedelta(milliseconds=30))
WAREHOUSE = DemoWorker(
    INVENTORY.stream, "warehouse", "warehouse-1", batch=5, effort=timedelta(milliseconds=50)
)
MAILER = DemoWorker(EMAILS.stream, "mailer", "mailer-1", batch=5, effort=timedelta(milliseconds=80))


async def run_workload(options: ConnectionOptions, seed: int = SEED, *, resume: bool = False) -> None:
    """Write the history, say that the cast is ready, and play until cancelled.

    Args:
        options: How the server is reached.
        seed: Source of the sample data.
        resume: Whether to continue with streams that a workload left.

    Raises:
        SettingsError: The server is not empty enough, or not a single server.
        ServerError: The server cannot be reached, or went away.
    """
    if options.mode is not Mode.STANDALONE:
        raise SettingsError("the demo's workload needs a single server", "Leave Sentinel and cluster aside.")
    options = replace(options, client_name="streamops-demo")
    # Two pools: the blocking reads of the consumers must not use up the producers' connections.
    producers, consumers = DemoClient(options), DemoClient(options)
    losses: list[Exception] = []
    try:
        if not (resume and await _is_set(producers)):
            await _refuse_where_used(producers, options)
            await write_history(producers, Random(seed))
        await _play(producers, consumers, seed)
    except* (RedisError, OSError) as group:
        losses = _flatten(group)
    finally:
        await producers.close()
        await consumers.close()
    # Raised out here, because whatever an except* clause raises comes wrapped in a group.
    if losses:
        raise server_error(losses[0], options.label, options.username)


async def _is_set(client: DemoClient) -> bool:
    """Whether the streams of a workload before this one are all there."""
    return await client.count_existing([source.stream for source in SOURCES]) == len(SOURCES)


async def _refuse_where_used(client: DemoClient, options: ConnectionOptions) -> None:
    streams = [source.stream for source in SOURCES]
    if await client.count_existing([*streams, *map(dead_letter_stream, streams)]):
        raise SettingsError(
            f"{options.label} already holds streams of the demo's names",
            "Give the demo an empty server or database.",
        )


async def _play(producers: DemoClient, consumers: DemoClient, seed: int) -> None:
    async with asyncio.TaskGroup() as cast:
        for number, source in enumerate(SOURCES, 1):
            cast.create_task(produce(producers, source, Random(seed + number)))
        cast.create_task(poison(producers, Random(seed), every=timedelta(seconds=100)))
        for worker in (*BILLING, SHIPPING, LEDGER, WAREHOUSE, MAILER):
            cast.create_task(work_steadily(consumers, worker))
        cast.create_task(work_in_batches(consumers, SHIPPING_HELP, every=timedelta(seconds=45)))
        cast.create_task(work_in_batches(consumers, ANALYTICS, every=timedelta(seconds=20)))
        cast.create_task(check_fraud(consumers, FRAUD, retry_after=timedelta(seconds=5)))
        print(READY, flush=True)  # noqa: T201  # the line that the parent waits for


def _flatten(group: BaseExceptionGroup[Exception]) -> list[Exception]:
    nested = (
        _flatten(error) if isinstance(error, BaseExceptionGroup) else [error] for error in group.exceptions
    )
    return [error for errors in nested for error in errors]


async def _run_until_terminated(options: ConnectionOptions, seed: int, *, resume: bool) -> None:
    play = asyncio.ensure_future(run_workload(options, seed, resume=resume))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, play.cancel)
    try:
        await play
    except asyncio.CancelledError:
        return


def main() -> int:
    """Run the workload as a program; its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m streamops.demo.workload", description="A live sample workload."
    )
    parser.add_argument("--url", required=True, help="an empty server, as in unix:///run/redis.sock")
    parser.add_argument(
        "--seed", type=int, default=SEED, help="source of the sample data (default %(default)s)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on where a workload before this one left its streams"
    )
    words = parser.parse_args()
    try:
        asyncio.run(_run_until_terminated(parse_url(words.url), words.seed, resume=words.resume))
    except StreamopsError as error:
        print(f"{error.message}. {error.hint}", file=sys.stderr)  # noqa: T201  # a program's last words
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main())
