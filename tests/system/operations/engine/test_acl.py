"""What an operator with fewer permissions than are printed may not do is refused before the first write."""

import pytest

from tests.support.operations.engine.acl import SAMPLED, Stage, assert_refused_in_time
from tests.support.operations.engine.examples import EXAMPLES


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in SAMPLED])
async def test_operation_without_one_of_its_commands_is_refused_before_the_first_write(
    stage: Stage, name: str
) -> None:
    await assert_refused_in_time(stage, EXAMPLES[name])
