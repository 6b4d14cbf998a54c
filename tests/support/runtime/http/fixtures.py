"""A receiver of calls, and topics that are looked at often."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from streamops.runtime.http import registry
from tests.support.runtime.http.receiver import Receiver, running_receiver


@pytest.fixture(autouse=True)
def looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "LOOK_EVERY", timedelta(milliseconds=50))


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with running_receiver() as receiver:
        yield receiver
