"""Tables whose rows are one test together: hundreds of rows that the code treats alike need no test each."""

from collections.abc import Callable, Iterable
from typing import Any


def table(
    names: str | tuple[str, ...], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Call a test with each row, as ``pytest.mark.parametrize`` would; what fails names its row."""
    kept = list(rows)

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        def play() -> None:
            for row in kept:
                values = {names: row} if isinstance(names, str) else dict(zip(names, row, strict=True))
                try:
                    test(**values)
                except BaseException as error:
                    error.add_note(f"in the row {values}")
                    raise

        play.__name__, play.__qualname__ = test.__name__, test.__qualname__
        play.__module__, play.__doc__ = test.__module__, test.__doc__
        return play

    return decorate
