"""Consumers of a group, and pruning them."""

from datetime import timedelta

from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from tests.support.servers import RunningServer
from tests.support.streams import deliver

STREAM, GROUP = "orders", "billing"


def stock(server: RunningServer, entries: int, **given: int) -> None:
    """Entries 1-1 and so on, given to consumers in this order."""
    pipeline = server.client.pipeline(transaction=False)
    for number in range(1, entries + 1):
        pipeline.xadd(STREAM, {"f": "v"}, id=f"{number}-1")
    pipeline.xgroup_create(STREAM, GROUP, "0")
    pipeline.execute()
    for consumer, count in given.items():
        deliver(server, STREAM, GROUP, consumer, count)


def consumers(server: RunningServer) -> set[str]:
    return {flat[1].decode() for flat in server.command("XINFO", "CONSUMERS", STREAM, GROUP)}


def removal(consumer: str = "dead", to: str | None = None) -> RemoveConsumerIntent:
    return RemoveConsumerIntent(stream=STREAM, group=GROUP, consumer=consumer, to=to)


def pruning(idle: float) -> PruneConsumersIntent:
    return PruneConsumersIntent(stream=STREAM, group=GROUP, idle=timedelta(seconds=idle))
