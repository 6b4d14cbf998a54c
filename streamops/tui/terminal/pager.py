"""A value in the person's own pager: the console steps aside, and comes back when it is left.

What a pager is given is sanitised unless somebody asks for the bytes: most pagers pass on what a terminal obeys.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from streamops.errors import StreamopsError
from streamops.model.text import name_text
from streamops.resources.text import safe

PAGERS: Final = ("less", "more", "most")
SAFE_LESS: Final = {"LESSSECURE": "1", "LESS": "-S", "LESSHISTFILE": "-"}
"""No shell, no editor, no other file from within, unless the person has options of their own; lines are cut, not wrapped."""


class NoPager(StreamopsError):
    """There is no pager, or it failed."""


def find_pager(
    environment: Mapping[str, str], which: Callable[[str], str | None] = shutil.which
) -> tuple[str, ...]:
    """The command of the person's pager, else of one that is there.

    Raises:
        NoPager: There is none, or ``PAGER`` cannot be understood.
    """
    if stated := environment.get("PAGER", "").strip():
        try:
            words = shlex.split(stated)
        except ValueError:
            raise NoPager(
                f"PAGER is not a command: {safe(stated)}", "Set it to a program and its options."
            ) from None
        if which(words[0]) is None:
            raise NoPager(f"PAGER: {safe(words[0])} is not there", "Set PAGER to another one.")
        return tuple(words)
    for name in PAGERS:
        if (path := which(name)) is not None:
            return (path,)
    raise NoPager("there is no pager", f"Install one of {', '.join(PAGERS)}, or set PAGER.")


def paged_bytes(value: bytes, *, raw: bool) -> bytes:
    """What the pager is given: the bytes themselves, or text of which a terminal obeys nothing."""
    if raw:
        return value
    lines = name_text(value).replace("\r\n", "\n").split("\n")
    return "\n".join(safe(line) for line in lines).encode()


def page(value: bytes, environment: Mapping[str, str], *, raw: bool = False) -> None:
    """Show a value and wait until the person has seen enough; what was written for it is removed.

    Args:
        value: The value.
        environment: The environment; a pager gets it, with what keeps ``less`` from running anything.
        raw: Whether the bytes are shown as they are.

    Raises:
        NoPager: There is none, or it failed.
    """
    command = find_pager(environment)
    try:
        # It begins with 0600.
        descriptor, name = tempfile.mkstemp(prefix="streamops-", suffix=".txt")
    except OSError as error:
        raise NoPager(f"cannot write the file for the pager: {error.strerror}") from None
    path = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(paged_bytes(value, raw=raw))
        done = subprocess.run([*command, name], env={**SAFE_LESS, **environment}, check=False)
    except OSError as error:
        raise NoPager(f"{safe(command[0])}: {error.strerror}") from None
    finally:
        path.unlink(missing_ok=True)
    if done.returncode:
        raise NoPager(f"{safe(command[0])} ended with code {done.returncode}")
