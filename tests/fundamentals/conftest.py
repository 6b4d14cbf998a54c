"""What the tour takes for granted: a server, empty whenever a test begins.

A suite of one's own makes such a fixture with ``streamops.testing.embedded_redis``; ``test_15_testing.py`` shows
how.
"""

from collections.abc import Iterator

import pytest

from streamops.wire.options import ConnectionOptions
from tests.runtime.leftovers import assert_tidy
from tests.servers import RunningServer


@pytest.fixture
def redis(any_server: RunningServer) -> Iterator[ConnectionOptions]:
    """Where it is; at the end nothing may be left behind that has no name in the documentation."""
    yield any_server.options
    assert_tidy(any_server)
