from datetime import timedelta

import pytest

from streamops.model.retention import RetentionPolicy
from streamops.settings.config import validate_file
from streamops.settings.describe import describe_settings
from tests.support.settings.place import Place

USERS = """
[[retention]]
streams = ["orders:*", "payments"]
maxlen = 100_000
max_age = "7d"

[[retention]]
streams = ["audit"]
max_age = 3600
exact = true
"""


def test_policies_are_read_in_their_order(place: Place) -> None:
    place.write_user(USERS)
    assert place.load().tables.retention == (
        RetentionPolicy(streams=("orders:*", "payments"), maxlen=100_000, max_age=timedelta(days=7)),
        RetentionPolicy(streams=("audit",), max_age=timedelta(hours=1), exact=True),
    )


def test_a_projects_policies_come_first(place: Place) -> None:
    place.write_user(USERS)
    place.write_trusted('[[retention]]\nstreams = ["orders:eu"]\nmaxlen = 5\n')
    settings = place.load()
    assert [policy.streams[0] for policy in settings.tables.retention] == ["orders:eu", "orders:*", "audit"]
    assert [row for row in describe_settings(settings) if row.key.startswith("retention")] == [
        ("retention[0].streams", "orders:eu", str(place.project_file)),
        ("retention[0].maxlen", "5", str(place.project_file)),
        ("retention[0].exact", "false", "default"),
        ("retention[1].streams", "orders:*, payments", str(place.user_file)),
        ("retention[1].maxlen", "100000", str(place.user_file)),
        ("retention[1].max_age", "7d", str(place.user_file)),
        ("retention[1].exact", "false", "default"),
        ("retention[2].streams", "audit", str(place.user_file)),
        ("retention[2].max_age", "1h", str(place.user_file)),
        ("retention[2].exact", "true", str(place.user_file)),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[retention]\nstreams = ["a"]', "retention: expected an array of tables, got a table"),
        ("retention = [1]", "retention[0]: expected a table, got an integer"),
        ("[[retention]]\nmaxlen = 1", "retention[0]: Object missing required field `streams`"),
        ("[[retention]]\nstreams = []\nmaxlen = 1", "retention[0]: names no stream, or an empty one"),
        ('[[retention]]\nstreams = [""]\nmaxlen = 1', "retention[0]: names no stream, or an empty one"),
        ('[[retention]]\nstreams = ["a"]', "retention[0]: says neither maxlen nor max_age"),
        ('[[retention]]\nstreams = ["a"]\nmaxlen = -1', "retention[0].maxlen: expected an integer >= 0"),
        ('[[retention]]\nstreams = ["a"]\nmax_age = 0', "retention[0].max_age: a duration must be longer than zero"),
        (
            '[[retention]]\nstreams = ["a"]\nmax_age = "1d"\nmaxlength = 4',
            "retention[0].maxlength: unknown key",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_policy_is_told(text: str, problem: str, place: Place) -> None:
    path = place.write_user(text)
    problems = validate_file(path, place.environ())
    assert [one.message.removeprefix(f"{path}: ") for one in problems] == [problem]
