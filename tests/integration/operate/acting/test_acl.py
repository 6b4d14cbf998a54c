"""What ``doctor --acl operator`` prints is enough for every operation, and whoever has less is refused in time."""

import pytest

from streamops.errors import ExitCode
from tests.support.operate.acting.acl import Stage, assert_done, state_of, used_commands
from tests.support.operate.acting.examples import EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
async def test_whoever_has_less_is_refused_in_time(stage: Stage, name: str) -> None:
    """Without any one of the commands that it takes, an operation does all the same, or nothing."""
    example = EXAMPLES[name]
    assert_done(*await stage.play(example))
    for command in sorted(used_commands(stage.server)):
        refusal = await stage.refusal_of(example, f"-{command}")
        if refusal is not None:
            assert refusal.exit_code is ExitCode.REFUSED, f"without {command}: {refusal!r}"
            assert state_of(stage.server) == stage.before, f"without {command}"
