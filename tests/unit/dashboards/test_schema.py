"""The boards are what Grafana's own types say a dashboard is, and nothing more."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.dashboards.sdk_schema import dashboard_schema
from tests.support.dashboards.shown import PATHS, panels_of, read_boards

VALIDATOR = Draft202012Validator(dashboard_schema())


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_board_keeps_to_the_schema(path: Path) -> None:
    problems = [
        f"{error.json_path}: {error.message[:300]}"
        for error in VALIDATOR.iter_errors(json.loads(path.read_text()))
    ]
    assert problems == []


def _panel(board: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(panel for panel in panels_of(board) if panel["type"] == kind)


MISTAKES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a misspelt key": lambda board: board.update(refrsh="30s"),
    "a refresh that is a number": lambda board: board.update(refresh=30),
    "no templating": lambda board: board.pop("templating"),
    "an unknown panel": lambda board: _panel(board, "stat").update(type="singlestat"),
    "options of another panel": lambda board: _panel(board, "stat").update(
        options=_panel(board, "timeseries")["options"]
    ),
    "an unknown option": lambda board: _panel(board, "stat")["options"].update(graph="area"),
    "a colour mode that is none": lambda board: _panel(board, "stat")["options"].update(colorMode="all"),
    "a misspelt field": lambda board: _panel(board, "timeseries")["fieldConfig"]["defaults"]["custom"].update(
        fill=1
    ),
    "a unit that is a number": lambda board: _panel(board, "stat")["fieldConfig"]["defaults"].update(unit=1),
    "an instant that is a word": lambda board: _panel(board, "stat")["targets"][0].update(instant="yes"),
    "a panel beside the grid": lambda board: _panel(board, "stat")["gridPos"].update(x=24),
    "an unknown transformation": lambda board: _panel(board, "table")["transformations"][0].update(id="join"),
    "a transformation's own option": lambda board: _panel(board, "table")["transformations"][1][
        "options"
    ].update(a=1),
    "an unknown property": lambda board: _panel(board, "table")["fieldConfig"]["overrides"][0].update(
        properties=[{"id": "custom.colour", "value": "red"}]
    ),
    "a link into the world": lambda board: _panel(board, "table")["fieldConfig"]["overrides"][0].update(
        properties=[{"id": "links", "value": [{"title": "Elsewhere", "url": "https://example.org"}]}]
    ),
    "a threshold without colour": lambda board: _panel(board, "stat")["fieldConfig"]["defaults"][
        "thresholds"
    ]["steps"][0].pop("color"),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_the_schema_finds(mistake: Callable[[dict[str, Any]], object]) -> None:
    board = copy.deepcopy(next(board for board in read_boards() if board["uid"] == "streamops-overview"))
    assert VALIDATOR.is_valid(board)
    mistake(board)
    assert not VALIDATOR.is_valid(board)
