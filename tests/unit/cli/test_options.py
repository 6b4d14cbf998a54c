"""Commands that are made of functions with annotated parameters."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

import click
import pytest
from click.testing import CliRunner
from msgspec import Struct

from streamops.cli.options import command
from streamops.cli.session import Session
from streamops.model.fields import argument, option


class Colour(StrEnum):
    RED = "red"


class Shared(Struct, frozen=True):
    every: Annotated[timedelta, option("How often.")] = timedelta(seconds=5)
    most: Annotated[int | None, click.IntRange(min=1), option("At most N.")] = None


GIVEN: list[dict[str, Any]] = []


@command(examples=[("paint wall", "a wall")])
def paint(
    session: Session,
    *,
    what: Annotated[str, argument("")],
    shared: Shared,
    colour: Annotated[Colour | None, option("Its colour.")] = None,
    words: Annotated[tuple[str, ...], option("Words.", "word")] = (),
) -> int:
    """Paint something."""
    assert isinstance(session, Session)
    GIVEN.append({"what": what, "shared": shared, "colour": colour, "words": words})
    return 0


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ((), {"shared": Shared(), "colour": None, "words": ()}),
        (("--colour", "red"), {"shared": Shared(), "colour": Colour.RED, "words": ()}),
        (
            ("--every", "2m", "--most", "3", "--word", "a", "--word", "-"),
            {"shared": Shared(timedelta(minutes=2), 3), "colour": None, "words": ("a", "-")},
        ),
    ],
)
def test_annotated_parameters_are_handed_over_as_their_types(
    words: tuple[str, ...], given: dict[str, Any]
) -> None:
    GIVEN.clear()
    assert CliRunner().invoke(paint, ["wall", *words]).exit_code == 0
    assert [{"what": "wall", **given}] == GIVEN
    assert GIVEN[0]["colour"] is given["colour"]


@pytest.mark.parametrize("words", [(), ("wall", "--colour", "blue"), ("wall", "--most", "0")])
def test_values_of_other_types_are_refused(words: tuple[str, ...]) -> None:
    GIVEN.clear()
    assert CliRunner().invoke(paint, words).exit_code == 2
    assert not GIVEN
