"""Where in a recording one is, and what the bars say of it. Pure and light."""

from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from streamops.present.table import Cell, Tone
from streamops.present.units import count

SPEEDS: Final = (0.25, 0.5, 1, 2, 5, 10, 30, 60)
"""How many times as fast as it was recorded."""
MINUTE: Final = 60


class Tape(Struct, frozen=True):
    """Where a recording is.

    Attributes:
        time: The server's clock then.
        number: The frame that is shown, from zero.
        frames: How many there are.
        speed: How many times as fast it is played.
        paused: Whether it stands still.
        problem: Why the recording ends where it does; empty where it was ended in order.
    """

    time: datetime
    number: int
    frames: int
    speed: float
    paused: bool
    problem: str

    @property
    def is_last(self) -> bool:
        """Whether nothing follows."""
        return self.number >= self.frames - 1

    @property
    def clock(self) -> str:
        """The time in words, in UTC."""
        return f"{self.time.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


def tape_cells(tape: Tape) -> tuple[Cell, ...]:
    """What the status line says: how it goes on, and where it is."""
    if tape.is_last:
        state, tone = f"■ the end{f': {tape.problem}' if tape.problem else ''}", Tone.WARN
    elif tape.paused:
        state, tone = "‖ paused (Space)", Tone.WARN
    else:
        state, tone = f"▶ x{tape.speed:g}", Tone.OK
    return (
        Cell(state, tone),
        Cell(f" · frame {count(tape.number + 1)} of {count(tape.frames)}", Tone.DIM),
    )
