"""A plan's command line with a speed still asks for the same."""

from datetime import timedelta

import pytest

from streamops.operations.commands import equivalent_command, full_command
from streamops.operations.replay.intent import ReplayIntent
from tests.unit.cli.typed import intent_of


@pytest.mark.parametrize("where", ["error == 'a -- b'", 'it\'s -- "so"', "fields.\"\n -- '\" == 'x'"])
@pytest.mark.parametrize("queue", ["orders:dlq", "-orders -- dlq"])
def test_speed_is_put_into_no_quoted_value(queue: str, where: str) -> None:
    intent = ReplayIntent(queue=queue, where=where, since=timedelta(days=14), because="two  blanks")
    assert intent_of(full_command(equivalent_command("replay", intent), (), 500.0)) == intent
