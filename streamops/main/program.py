"""Runs one command line from its arguments to its exit code."""

import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click
from click.exceptions import Exit
from click.shell_completion import shell_complete

from streamops import __version__
from streamops.cli.command import CommandGroup
from streamops.cli.failures import is_for_nagios, print_unknown, report_failure
from streamops.cli.globals import Globals, globals_of
from streamops.cli.terminal import prepare_streams
from streamops.main.catalogue import COMMANDS, SECTIONS, SINGULARS

PROGRAM: Final = "streamops"
COMPLETION_VARIABLE: Final = "_STREAMOPS_COMPLETE"


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if wanted and not ctx.resilient_parsing:
        click.echo(f"{PROGRAM} {__version__}")
        ctx.exit()


ROOT: Final = CommandGroup(
    PROGRAM,
    "The operations console for Redis Streams: consumer groups, lag, pending entries and dead letters.",
    COMMANDS,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version.",
        ),
    ],
    sections=SECTIONS,
    aliases=SINGULARS,
)


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code; failures are told on stderr."""
    prepare_streams()
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        return shell_complete(ROOT, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    given = Globals()
    try:
        ctx = ROOT.make_context(PROGRAM, list(args))
        try:
            with ctx:
                code: int | None = ROOT.invoke(ctx)
        finally:
            given = globals_of(ctx)
        sys.stdout.flush()
    except Exit as ended:
        return ended.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last resort: nobody sees a traceback
        return print_unknown(error) if is_for_nagios(args) else report_failure(error, given)
    return code or 0
