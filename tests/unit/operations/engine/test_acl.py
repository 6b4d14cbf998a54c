"""What ``doctor --acl operator`` prints is enough for every operation, and whoever has less is refused in time."""

from streamops.operations.registry import OPERATIONS
from tests.support.operations.engine.examples import EXAMPLES


def test_every_operation_has_an_example() -> None:
    assert {example.operation for example in EXAMPLES.values()} == {*OPERATIONS}
