"""Fixtures of the tests of runtime."""

from datetime import timedelta

import pytest

from streamops.runtime import acknowledger, dedup, draining, naming, outcomes, worker
from tests.support.runtime.fixtures import users
from tests.support.wire.fixtures import as_user

__all__ = ["as_user", "users"]


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker pauses for a tenth of the time before it does something again."""
    for module in (acknowledger, draining, naming, dedup, outcomes):
        monkeypatch.setattr(module, "PAUSE", module.PAUSE / 10)
    monkeypatch.setattr(worker, "PULSE", worker.PULSE / 10)
    monkeypatch.setattr(worker, "LAST_WAIT", worker.LAST_WAIT / 10)
    monkeypatch.setattr(dedup, "LATER", timedelta(seconds=0.1))
