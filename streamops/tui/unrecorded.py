"""The source of a recording's pages: it has none, and says so."""

from collections.abc import Generator
from typing import Any, Final, Never, Self, cast

from streamops.errors import Forbidden, RecordingError
from streamops.tui.source import Source

ACTS: Final = frozenset({"prepare", "prepare_rest", "apply", "cancel_job"})
HINT: Final = (
    "A recording holds what was read of all streams at each poll, and nothing that was read on demand."
)


class Unrecorded:
    """Whatever is asked of it, however deep, is refused once it is waited for.

    Args:
        name: What was asked for.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __getattr__(self, name: str) -> "Unrecorded":
        if name.startswith("__"):
            raise AttributeError(name)
        return Unrecorded(name)

    def __call__(self, *args: object, **options: object) -> Self:
        """The same: it is refused when it is waited for."""
        del args, options
        return self

    def __await__(self) -> Generator[Never, None, Any]:
        self._refuse()
        yield

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:  # noqa: ANN401 - it never returns
        self._refuse()

    def start_discovery(self) -> None:
        """Nothing is to be discovered."""

    async def close(self) -> None:
        """Nothing is open."""

    def _refuse(self) -> Never:
        if self._name in ACTS:
            raise Forbidden("read-only: this is a recording, and nothing can be done to it", HINT)
        raise RecordingError(f"{self._name.removeprefix('read_').replace('_', ' ')}: not recorded", HINT)


def unrecorded() -> Source:
    """The source of a recording."""
    return cast("Source", Unrecorded())
