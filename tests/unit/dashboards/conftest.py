"""Each board in turn."""

from typing import Any

import pytest

from tests.support.dashboards.shown import BOARDS


@pytest.fixture(params=BOARDS)
def board(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = BOARDS[request.param]
    return found
