"""What a stream is for, by its name."""

import pytest

from streamops.model.streams import StreamRole
from streamops.wire.keys import stream_role

CONFIGURED = {"orders": "trash", "a:b": "a:b:errors"}


@pytest.mark.parametrize(
    ("name", "role", "source"),
    [
        ("orders", StreamRole.EVENTS, None),
        ("orders:dlq", StreamRole.DEAD_LETTERS, "orders"),
        ("{orders}:dlq", StreamRole.DEAD_LETTERS, "orders"),
        ("{a}:orders:dlq", StreamRole.DEAD_LETTERS, "{a}:orders"),
        ("a{b}c:dlq", StreamRole.DEAD_LETTERS, "a{b}c"),
        (":dlq", StreamRole.DEAD_LETTERS, None),
        ("{}:dlq", StreamRole.DEAD_LETTERS, None),
        ("dlq", StreamRole.EVENTS, None),
        ("trash", StreamRole.DEAD_LETTERS, "orders"),
        ("a:b:errors", StreamRole.DEAD_LETTERS, "a:b"),
        ("{orders}:retry:billing", StreamRole.RETRY, "orders"),
        ("{a}:orders:retry:billing", StreamRole.RETRY, "{a}:orders"),
        ("orders:retry:billing", StreamRole.EVENTS, None),
        ("{orders}:retry:", StreamRole.EVENTS, None),
        ("", StreamRole.EVENTS, None),
    ],
)
def test_roles(name: str, role: StreamRole, source: str | None) -> None:
    assert stream_role(name, CONFIGURED) == (role, source)
