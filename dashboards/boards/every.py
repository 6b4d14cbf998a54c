"""All boards, and the files they become."""

from typing import Final

from dashboards.boards.board import Board, render
from dashboards.boards.letters import letters
from dashboards.boards.overview import overview
from dashboards.boards.scaling import scaling
from dashboards.boards.stream import stream
from dashboards.boards.workers import workers

FILES: Final = {
    "overview.json": overview,
    "stream.json": stream,
    "consumers-and-workers.json": workers,
    "dead-letters-and-delayed.json": letters,
    "autoscaler.json": scaling,
}
"""Who makes which file."""


def boards() -> tuple[Board, ...]:
    """Every board, made anew."""
    return tuple(make() for make in FILES.values())


def board_files() -> dict[str, str]:
    """The files, by their paths below this package's directory."""
    return {path: render(make()) for path, make in FILES.items()}
