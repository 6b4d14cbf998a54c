"""Fixtures of the tests of runtime."""

from datetime import timedelta

import pytest

from streamops.runtime import acks, draining, naming, screening, settling, worker
from tests.support.runtime.fixtures import users
from tests.support.wire.fixtures import as_user

__all__ = ["as_user", "users"]


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker pauses for a tenth of the time before it does something again."""
    for module in (acks, draining, naming, screening, settling):
        monkeypatch.setattr(module, "PAUSE", module.PAUSE / 10)
    monkeypatch.setattr(worker, "PULSE", worker.PULSE / 10)
    monkeypatch.setattr(worker, "LAST_WAIT", worker.LAST_WAIT / 10)
    monkeypatch.setattr(screening, "LATER", timedelta(seconds=0.1))
