"""Command lines that stand in configuration, held against the programs they are for."""

import re
from collections.abc import Sequence

from streamops.cli.command import CommandGroup
from streamops.main.program import ROOT
from tests.support.prometheus import run_program


def parse_streamops(words: Sequence[str]) -> str:
    """Have the real command line read some words without running anything; the command's name.

    Raises:
        click.UsageError: It does not understand them.
    """
    group, rest, path = ROOT, list(words), ["streamops"]
    while True:
        name, command, rest = group.resolve_command(group.make_context(path[-1], [rest[0]]), rest)
        assert command is not None, f"no command {name}"
        path.append(str(name))
        if not isinstance(command, CommandGroup):
            command.make_context(str(name), rest)
            return " ".join(path)
        group = command


def unknown_flags(program: str, words: Sequence[str]) -> list[str]:
    """Flags among the words that the program's help does not know."""
    told = run_program(program, "--help")
    known = set(re.findall(r"--[\w.-]+", told.stdout + told.stderr))
    flags = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [flag for flag in flags if flag not in known]
