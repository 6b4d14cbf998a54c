"""The command line that does what a plan says: on the same server, as fast."""

from collections.abc import Sequence

from streamops.analysis.wording import quoted

PROGRAM = "streamops "


def full_command(command: str, selector: Sequence[str], rate: float | None) -> str:
    """A plan's command line with what the operation does not know of.

    Args:
        command: The command line as the operation words it; empty for none.
        selector: The options that choose the server; none at all where it is the default one.
        rate: At most so many units a second; none for no limit.
    """
    if not command.startswith(PROGRAM):
        return command
    rest = command.removeprefix(PROGRAM)
    if rate is not None:
        # After ``--`` there are only names.
        options, dashes, names = rest.partition(" -- ")
        rest = f"{options} --rate {rate:.15g}/s{dashes}{names}"
    return PROGRAM + " ".join([*map(quoted, selector), rest])
