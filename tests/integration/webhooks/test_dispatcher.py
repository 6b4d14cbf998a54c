"""The workers of topics end when they are told to, whatever comes at that moment."""

import asyncio

from streamops.runtime.worker import WorkerOptions
from streamops.service.addresses import Reach
from streamops.webhooks.callback import Callback, HostOptions
from streamops.webhooks.calling import Caller, CallerOptions
from streamops.webhooks.dispatcher import Dispatcher
from streamops.webhooks.registry import TopicServer
from streamops.webhooks.semaphore import WeightedSemaphore
from tests.support.servers import RunningServer
from tests.support.webhooks.serving import site


async def test_topics_that_change_while_their_workers_are_ended_hold_nothing_up(
    server: RunningServer,
) -> None:
    place = TopicServer(site(server))
    async with Caller(Reach((), deny_private=False), CallerOptions()) as caller:
        callers = Dispatcher(
            place, dict, Callback(caller, HostOptions()), WeightedSemaphore(1), WorkerOptions()
        )
        running = asyncio.create_task(callers.run())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        callers.changed()
        running.cancel()
        await asyncio.wait({running}, timeout=5)
        assert running.cancelled()
    await place.close()
