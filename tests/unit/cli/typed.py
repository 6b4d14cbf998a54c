"""What an equivalent command line asks for: read by a shell, then by the command itself."""

import shutil
import subprocess

import pytest
from msgspec import Struct

from streamops.main.program import run
from streamops.model.acting import Limits

BASH = shutil.which("bash") or "bash"


def intent_of(line: str) -> Struct:
    """The intent that a command line makes; nothing is asked of a server."""
    return asked_by(line)[0]


def asked_by(line: str) -> tuple[Struct, Limits]:
    """The intent that a command line makes, and what its plan is held to."""
    asked: list[tuple[Struct, Limits]] = []
    program, *words = shell_words(line)
    assert program == "streamops"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "streamops.cli.acting.flow.act",
            lambda _session, intent, choices: asked.append((intent, choices.limits)),
        )
        assert run(words) == 0
    return asked[0]


def shell_words(line: str) -> list[str]:
    """The words of a line, as bash hands them to a program."""
    done = subprocess.run([BASH, "-c", f"printf '%s\\0' {line}"], check=True, capture_output=True)
    return [word.decode("utf-8", "surrogateescape") for word in done.stdout.split(b"\0")[:-1]]
