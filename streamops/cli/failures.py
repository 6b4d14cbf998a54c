"""Every way a command can end, as words on stderr and an exit code. Nobody sees a traceback who did not ask."""

import errno
import sys
import traceback
from collections.abc import Sequence
from typing import Final

import click
from click.exceptions import NoArgsIsHelpError

from streamops.cli.globals import Globals
from streamops.cli.terminal import Narrator, discard, drawable
from streamops.errors import ApplyError, ExitCode, StreamopsError
from streamops.model.removed import removed_hint
from streamops.resources.text import safe, safe_lines

REPORT: Final = "Please report it with what `--log-level debug` shows."


def report_failure(error: BaseException, given: Globals) -> ExitCode:
    """Say what went wrong and return the exit code for it."""
    narrator = Narrator()
    match error:
        case ApplyError():
            narrator.error(error.message, error.hint)
            if error.resume:
                narrator.resume(error.resume)
            return error.exit_code
        case StreamopsError():
            narrator.error(error.message, error.hint)
            return error.exit_code
        case NoArgsIsHelpError():
            error.show()
            return ExitCode.USAGE
        case click.UsageError():
            narrator.error(*_usage_words(error))
            return ExitCode.USAGE
        case KeyboardInterrupt():
            narrator.note("interrupted")
            return ExitCode.INTERRUPTED
        case BrokenPipeError():
            discard(sys.stdout)
            return ExitCode.DONE
        case OSError(errno=errno.ENOSPC | errno.EIO | errno.EDQUOT):
            discard(sys.stdout)
            narrator.error(
                f"the output cannot be written: {error.strerror}", "Make room, or write elsewhere."
            )
            return ExitCode.FAILED
        case _:
            return _report_bug(error, narrator, given)


def _usage_words(error: click.UsageError) -> tuple[str, str]:
    """What is wrong with a command line, and what to do."""
    path = error.ctx.command_path if error.ctx else "streamops"
    name = ""
    if isinstance(error, click.NoSuchOption):
        name = error.option_name
    elif isinstance(error, click.NoSuchCommand):
        name = error.command_name
    if name and (removed := removed_hint(f"{path} {name}")):
        # Not its whole sentence: what it takes for the closest name is none.
        return _lowered(error.message), removed
    return _lowered(error.format_message()), getattr(error, "hint", "") or f"See `{path} --help`."


def _report_bug(error: BaseException, narrator: Narrator, given: Globals) -> ExitCode:
    if given.log_level == "debug":
        sys.stderr.write(safe_lines("".join(traceback.format_exception(error))))
    text = " ".join(str(error).split())
    narrator.error(f"a bug in streamops: {type(error).__name__}{': ' if text else ''}{text}", REPORT)
    return ExitCode.FAILED


def _lowered(message: str) -> str:
    """Click's sentence as our errors are written: no capital, no full stop."""
    line = " ".join(message.split()).rstrip(".").replace("a valid integer range", "a whole number")
    return line[:1].lower() + line[1:]


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
