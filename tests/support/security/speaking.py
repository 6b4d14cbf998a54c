"""A program that runs a command line of ours, and has libraries log hostile text once the command is at work."""

import logging
import signal
import sys
from typing import Any, Final

import structlog

from streamops.main.program import run
from streamops.model.text import INVISIBLE

END: Final = "that was all"
FORGED: Final = "2026-01-01T00:00:00Z [info] all is well"
HOSTILE: Final = f"\x1b[2J\x1b]0;pwned\x07\r\n{FORGED}\x9b31m\u202e\u2028{FORGED}\x7f{chr(min(INVISIBLE))}"
RECORDS: Final = 5
"""How many of them are about that text."""


def speak() -> None:
    """Log that text in all ways there are: as the message, as its argument, as a field, and in tracebacks."""
    foreign, ours = logging.getLogger(f"shop{HOSTILE}"), structlog.get_logger("streamops")
    foreign.error("it is %s (%r)", HOSTILE, HOSTILE.encode())
    foreign.error(HOSTILE)
    ours.error(HOSTILE, **{"field": HOSTILE, f"name{HOSTILE}": 1})
    try:
        _fail()
    except ValueError:
        foreign.exception("it failed")
        ours.exception("it failed")
    logging.getLogger("shop").error(END)


def _fail() -> None:
    raise ValueError(HOSTILE)


def main() -> int:
    """Run the command line; what it catches signals with is the sign that it is at work."""
    handle, spoken = signal.signal, list[bool]()

    def catching(number: int, handler: Any) -> Any:  # noqa: ANN401 - as in signal
        before = handle(number, handler)
        if number == signal.SIGTERM and not spoken:
            spoken.append(True)
            speak()
        return before

    signal.signal = catching  # type: ignore[assignment]
    return run(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
