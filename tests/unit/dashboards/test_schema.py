"""The boards are what Grafana's own types say a dashboard is, and nothing more."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from tests.support.dashboards.sdk_schema import dashboard_schema
from tests.support.dashboards.shown import PATHS
from tests.support.tables import table

VALIDATOR = Draft202012Validator(dashboard_schema())


@table("path", PATHS)
def test_a_board_keeps_to_the_schema(path: Path) -> None:
    problems = [
        f"{error.json_path}: {error.message[:300]}"
        for error in VALIDATOR.iter_errors(json.loads(path.read_text()))
    ]
    assert problems == []
