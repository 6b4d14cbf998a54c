"""A receiver of calls, and topics that are looked at often."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from streamops.webhooks import registry
from tests.support.webhooks.receiver import Receiver, running_receiver


@pytest.fixture(autouse=True)
def looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "LOOK_EVERY", timedelta(milliseconds=50))


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with running_receiver() as receiver:
        yield receiver
