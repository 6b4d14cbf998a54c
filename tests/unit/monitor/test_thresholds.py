from datetime import timedelta
from typing import Any

import msgspec
import pytest

from streamops.monitor.thresholds import Thresholds
from tests.support.tables import table


@table(
    "name",
    [name for name in Thresholds.__struct_fields__ if isinstance(getattr(Thresholds(), name), timedelta)],
)
def test_durations_must_be_positive(name: str) -> None:
    values: dict[str, Any] = {name: timedelta(0)}
    with pytest.raises(ValueError, match=f"{name} must be longer than zero"):
        Thresholds(**values)


@table(
    ("values", "complaint"),
    [
        ({"stopped_after": "PT0S"}, "stopped_after must be longer than zero"),
        ({"retention_ratio": 1.5}, r"`float` <= 1.0 - at `\$.retention_ratio`"),
        ({"poison_deliveries": 0}, r"`int` >= 1 - at `\$.poison_deliveries`"),
        ({"lag_growing_ratio": 1.0}, r"`float` > 1.0 - at `\$.lag_growing_ratio`"),
        ({"stoped_after": "PT1S"}, "unknown field `stoped_after`"),
    ],
)
def test_configuration_is_checked(values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=complaint):
        msgspec.convert(values, Thresholds)
