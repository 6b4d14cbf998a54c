"""Messages from the intake to the receiver and beyond, on real servers."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from streamops.runtime.http import book
from tests.support.deployments import RunningCluster
from tests.support.eventually import eventually
from tests.support.runtime.http.receiver import Receiver, running_receiver
from tests.support.runtime.http.service import LETTERS, SOON
from tests.support.runtime.http.serving import serving


@pytest.fixture(autouse=True)
def looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "LOOK_EVERY", timedelta(milliseconds=50))


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with running_receiver() as receiver:
        yield receiver


async def test_on_a_cluster(cluster: RunningCluster, receiver: Receiver) -> None:
    topic = receiver.topic(delay=timedelta(milliseconds=20), retry=SOON, max_attempts=2)
    receiver.status = 500
    async with serving(book.Site("", cluster.options, (topic,))) as served:
        await served.post("remind/messages/m-1")
        await eventually(lambda: len(receiver.seen) == 2)
        node = cluster.node_of(LETTERS)
        await eventually(lambda: bool(node.command("EXISTS", LETTERS)))
