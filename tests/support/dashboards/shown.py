"""The boards as committed: their panels, what they ask, and the variables put in as Grafana would."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from tests.support.project import PROJECT

DIRECTORY: Final = PROJECT / "dashboards"
PATHS: Final = tuple(sorted(DIRECTORY.glob("*.json")))
VARIABLE: Final = re.compile(r"\$(?:\{(\w+)[^}]*\}|(\w+))")

INTERVALS: Final = {"__rate_interval": "10s", "__range": "1m", "__interval": "5s"}


class Ask(Struct, frozen=True):
    """One expression of a board.

    Attributes:
        board: Its uid.
        panel: The panel's title, or what else asks.
        ref: The query's refId.
        expr: The PromQL, with the variables in it.
        legend: What the series are called.
        kind: The panel's type.
        instant: Whether one moment is asked about.
    """

    board: str
    panel: str
    ref: str
    expr: str
    legend: str
    kind: str
    instant: bool

    @property
    def name(self) -> str:
        """Where it stands."""
        return f"{self.board}: {self.panel}: {self.ref}"


def read_boards() -> list[dict[str, Any]]:
    """The boards."""
    return [json.loads(path.read_text()) for path in PATHS]


def panels_of(board: dict[str, Any]) -> list[dict[str, Any]]:
    """The panels that are no headings."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def charts_of(board: dict[str, Any]) -> list[dict[str, Any]]:
    """The panels that ask for something."""
    return [panel for panel in panels_of(board) if panel["type"] != "text"]


def asks_of(board: dict[str, Any]) -> Iterator[Ask]:
    """What a board asks: its panels and its annotations."""
    for panel in charts_of(board):
        for target in panel["targets"]:
            yield Ask(
                board["uid"],
                panel["title"],
                target["refId"],
                target["expr"],
                target["legendFormat"],
                panel["type"],
                target["instant"],
            )
    for annotation in board["annotations"]["list"]:
        if "expr" in annotation:
            yield Ask(
                board["uid"], annotation["name"], "", annotation["expr"], "", "annotation", instant=False
            )


def values_of(board: dict[str, Any], **chosen: str) -> dict[str, str]:
    """What the variables stand for while everything is chosen, where ``chosen`` says nothing else."""
    every = {variable["name"]: variable.get("allValue", "") for variable in board["templating"]["list"]}
    return every | INTERVALS | chosen


def written(value: str, *, many: bool) -> str:
    """A chosen value as Grafana writes it into an expression: as a pattern for a variable of many, else as text."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    if not many:
        return escaped
    doubled = value.replace("\\", "\\" * 4).replace('"', '\\"')
    return re.sub(r"[$^*{}\[\]'+?.()|]", r"\\\\\g<0>", doubled)


def put_in(expr: str, values: dict[str, str]) -> str:
    """The expression with values for its variables.

    Raises:
        KeyError: A variable has no value.
    """
    return VARIABLE.sub(lambda found: values[found[1] or found[2]], expr)


BOARDS = {board["uid"]: board for board in read_boards()}
