"""The rules as they are written."""

from functools import cache
from typing import Any, Final

import yaml

from dashboards.rules import build_rules
from tests.support.project import PROJECT

DIRECTORY: Final = PROJECT / "dashboards"
CASES: Final = tuple(sorted((DIRECTORY / "tests").glob("*.yml")))


@cache
def rules() -> list[dict[str, Any]]:
    """The rules as Prometheus reads them."""
    return [rule for group in yaml.safe_load(build_rules())["groups"] for rule in group["rules"]]
