"""What Nagios is told where nothing was judged: it knows four codes, and takes 1 and 2 for states of what was checked."""

import sys
from collections.abc import Sequence
from typing import Final

import click

from streamops.cli.pipes import discard
from streamops.cli.terminal import drawable
from streamops.errors import StreamopsError
from streamops.resources.text import safe

UNKNOWN: Final = 3


def is_for_nagios(args: Sequence[str]) -> bool:
    """Whether a command line, right or wrong, asks for a Nagios plugin's answer."""
    before = ("", *args)
    named = any(
        arg.lower() == "--format=nagios" or (arg.lower() == "nagios" and before[index] == "--format")
        for index, arg in enumerate(args)
    )
    return named and "check" in args


def print_unknown(error: BaseException) -> int:
    """Say on stdout, where Nagios reads, why nothing was judged; the exit code for that."""
    line = safe(" ".join(_words(error).split())).replace("|", "/")
    try:
        sys.stdout.write(f"STREAMOPS UNKNOWN - {drawable(line, sys.stdout)}\n")
        sys.stdout.flush()
    except OSError:
        discard(sys.stdout)
    return UNKNOWN


def _words(error: BaseException) -> str:
    match error:
        case StreamopsError():
            return error.message
        case click.ClickException():
            return error.format_message()
        case KeyboardInterrupt():
            return "interrupted"
        case OSError():
            return error.strerror or type(error).__name__
        case _:
            return f"a bug in streamops: {type(error).__name__}: {error}"
