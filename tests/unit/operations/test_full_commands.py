"""A plan's command line with the limits of its form still asks for the same."""

from datetime import timedelta

import pytest

from streamops.model.acting import Limits
from streamops.operations.commands import equivalent_command, full_command
from streamops.operations.replay.intent import ReplayIntent
from tests.unit.cli.typed import asked_by


@pytest.mark.parametrize("where", ["error == 'a -- b'", 'it\'s -- "so"', "fields.\"\n -- '\" == 'x'"])
@pytest.mark.parametrize("queue", ["orders:dlq", "-orders -- dlq"])
def test_limits_are_put_into_no_quoted_value(queue: str, where: str) -> None:
    intent = ReplayIntent(queue=queue, where=where, since=timedelta(days=14), because="two  blanks")
    limits = Limits(rate=500.0, max_count=7, reason='it\'s -- a "drill"')
    assert asked_by(full_command(equivalent_command("replay", intent), (), limits)) == (intent, limits)
