"""Fixtures of the tests of runtime."""

from collections.abc import Iterator

import pytest

from tests.support.runtime.fixtures import users
from tests.support.runtime.steps import Step, is_drawn, unwatch_steps, watch_steps
from tests.support.wire.fixtures import as_user

__all__ = ["as_user", "only_drawn_steps", "users"]


@pytest.fixture(autouse=True)
def only_drawn_steps() -> Iterator[set[Step]]:
    """The steps that entries take in a test: ``EntryState`` draws each of them."""
    steps = set[Step]()
    watch_steps(lambda _, step: steps.add(step))
    yield steps
    unwatch_steps()
    assert [step for step in steps if not is_drawn(step)] == []
