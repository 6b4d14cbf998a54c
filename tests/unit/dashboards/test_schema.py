"""The boards are what Grafana's own types say a dashboard is, and nothing more."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.support.dashboards.sdk_schema import dashboard_schema
from tests.support.dashboards.shown import PATHS

VALIDATOR = Draft202012Validator(dashboard_schema())


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_board_keeps_to_the_schema(path: Path) -> None:
    problems = [
        f"{error.json_path}: {error.message[:300]}"
        for error in VALIDATOR.iter_errors(json.loads(path.read_text()))
    ]
    assert problems == []
