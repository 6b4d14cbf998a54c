"""The command line that does what a plan says: on the same server, as fast."""

import re
from collections.abc import Sequence

from streamops.model.wording import quoted

PROGRAM = "streamops "
WORD = re.compile(r"""(?:\$'(?:\\.|[^'\\])*'|'[^']*'|"[^"]*"|\S)+""")
"""A word of a shell, with the quotes that ``quoted`` puts around parts of it."""


def full_command(command: str, selector: Sequence[str], rate: float | None) -> str:
    """A plan's command line with what the operation does not know of.

    Args:
        command: The command line as the operation words it; empty for none.
        selector: The options that choose the server; none at all where it is the default one.
        rate: At most so many units a second; none for no limit.
    """
    if not command.startswith(PROGRAM):
        return command
    words = WORD.findall(command.removeprefix(PROGRAM))
    if rate is not None:
        # After ``--`` there are only names.
        words.insert(words.index("--") if "--" in words else len(words), f"--rate {rate:.15g}/s")
    return PROGRAM + " ".join([*map(quoted, selector), *words])
