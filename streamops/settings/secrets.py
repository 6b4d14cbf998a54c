"""Secrets from files and from programs, and those that others may read. What they hold or print never reaches an error."""

import os
import shlex
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from streamops.errors import SettingsError
from streamops.model.secret import Secret

COMMAND_TIMEOUT: Final = timedelta(seconds=5)
MAX_BYTES: Final = 64 * 1024


def read_password_file(path: Path) -> Secret:
    """Read a password: the file's content without line ends after it.

    Raises:
        SettingsError: The file cannot be read, is empty, is not text, or is far too long for a password.
    """
    return _decode_password(_read(path), f"{path} holds", "Write the password into it, on one line.")


def run_password_command(command: str | Sequence[str]) -> Secret:
    """Run a program, without a shell, and read the password from its output.

    Args:
        command: The program and its arguments; a string is split as a shell would split it.

    Raises:
        SettingsError: The program cannot be started, fails, takes more than five seconds, or prints nothing
            that could be a password.
    """
    return _decode_password(_capture(command), "printed", "Run it by hand to see what it prints.")


def read_secret_lines(path: Path) -> list[str]:
    """Read a file of several secrets; its lines as they stand, comments too.

    Raises:
        SettingsError: The file cannot be read, is not text, or is far too long.
    """
    return _decode(_read(path), f"{path} holds", "Write one a line.").splitlines()


def run_secret_lines(command: str | Sequence[str]) -> list[str]:
    """Run a program, without a shell, and read several secrets from its output; its lines as they stand.

    Raises:
        SettingsError: As ``run_password_command`` does.
    """
    return _decode(_capture(command), "printed", "Run it by hand to see what it prints.").splitlines()


def _read(path: Path) -> bytes:
    """A file, up to a byte more than may be in it."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise SettingsError(
            f"cannot read {path}: {error.strerror}", "Check the name and its permissions."
        ) from None


def _capture(command: str | Sequence[str]) -> bytes:
    args = split_command(command)
    try:
        output, status = _run(args)
    except OSError as error:
        raise SettingsError(f"cannot be started: {error.strerror}", "Check that it is installed.") from None
    except subprocess.TimeoutExpired:
        # Outside the handler's reach: the exception holds what was printed so far.
        output, status = b"", None
    if status is None:
        limit = f"{COMMAND_TIMEOUT.total_seconds():.0f} s"
        raise SettingsError(f"took more than {limit}", "Run it by hand; it must not prompt for input.")
    if status:
        outcome = f"exit status {status}" if status > 0 else f"signal {-status}"
        raise SettingsError(f"failed with {outcome}", "Run it by hand to see why.")
    return output


def split_command(command: str | Sequence[str]) -> list[str]:
    """The program and its arguments.

    Raises:
        SettingsError: There is none, or quotes are not closed.
    """
    try:
        args = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError:
        args = []
    if not args or not args[0] or "\0" in "".join(args):
        raise SettingsError("not a program with arguments", "Close its quotes, or write it as a list.")
    return args


def _run(args: list[str]) -> tuple[bytes, int]:
    # A group of its own, so that what the program starts ends with it.
    process = subprocess.Popen(
        args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0
    )
    with process:
        try:
            output, _ = process.communicate(timeout=COMMAND_TIMEOUT.total_seconds())
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return output, process.returncode


def _decode_password(content: bytes, verb: str, hint: str) -> Secret:
    password = _decode(content, verb, hint).rstrip("\r\n")
    if not password or "\n" in password:
        raise SettingsError(f"{verb} {'several lines' if password else 'nothing'}", hint)
    return Secret(password)


def _decode(content: bytes, verb: str, hint: str) -> str:
    if len(content) > MAX_BYTES:
        raise SettingsError(f"{verb} more than any secret is", hint)
    with suppress(UnicodeDecodeError):
        return content.decode()
    # Outside the handler's reach: the exception holds the secret.
    raise SettingsError(f"{verb} what is not UTF-8", hint)
