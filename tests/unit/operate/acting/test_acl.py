"""What ``doctor --acl operator`` prints is enough for every operation, and whoever has less is refused in time."""

from streamops.operate.operations.registry import OPERATIONS
from tests.support.operate.acting.examples import EXAMPLES


def test_every_operation_has_an_example() -> None:
    assert {example.operation for example in EXAMPLES.values()} == {*OPERATIONS}
