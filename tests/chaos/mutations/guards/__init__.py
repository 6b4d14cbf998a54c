"""The guards, by what they are for."""

from collections.abc import Mapping
from typing import Final

from tests.chaos.mutations.guard import Guard
from tests.chaos.mutations.guards import (
    acting,
    consuming,
    delayed,
    faces,
    numbers,
    operations,
    primaries,
    scaling,
    settling,
)

ROOMS: Final[Mapping[str, tuple[Guard, ...]]] = {
    "Consuming": consuming.GUARDS,
    "Another primary": primaries.GUARDS,
    "Settling": settling.GUARDS,
    "Delayed messages": delayed.GUARDS,
    "Acting": acting.GUARDS,
    "Operations": operations.GUARDS,
    "Scaling": scaling.GUARDS,
    "Numbers": numbers.GUARDS,
    "Faces": faces.GUARDS,
}
GUARDS: Final = tuple(guard for guards in ROOMS.values() for guard in guards)
