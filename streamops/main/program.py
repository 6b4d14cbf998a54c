"""Runs one command line from its arguments to its exit code."""

import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click
from click.exceptions import Exit
from click.shell_completion import shell_complete

from streamops import __version__
from streamops.cli.catalogue import COMMANDS
from streamops.cli.command import EXITS, Command, CommandGroup, Lazy, joined, write_options
from streamops.cli.failures import report_failure
from streamops.cli.global_options import GLOBAL_OPTIONS
from streamops.cli.globals import Globals, globals_of
from streamops.cli.nagios import is_for_nagios, print_unknown
from streamops.cli.terminal import prepare_streams

PROGRAM: Final = "streamops"
COMPLETION_VARIABLE: Final = "_STREAMOPS_COMPLETE"

SECTIONS: Final = {
    "Start": ("demo", "tui", "doctor"),
    "Look": (
        "status",
        "alerts",
        "check",
        "streams",
        "entries",
        "groups",
        "consumers",
        "pending",
        "dlq",
        "delayed",
        "workers",
        "jobs",
        "audit",
    ),
    "Act": ("claim", "ack", "nack", "trim", "replay", "restore", "publish", "undo"),
    "Run": ("run", "pause", "resume", "scale", "autoscale", "topics", "exporter", "drill"),
    "Set up": ("ctx", "config", "completion", "options", "version", "help"),
}


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if wanted and not ctx.resilient_parsing:
        click.echo(f"{PROGRAM} {__version__}")
        ctx.exit()


ROOT: Final = CommandGroup(
    PROGRAM,
    "The operations console for Redis Streams: consumer groups, lag, pending entries and dead letters.",
    {
        "demo": Lazy("streamops.main.faces:demo", "Look at a live sample workload; needs no Redis."),
        "tui": Lazy("streamops.main.faces:tui", "Open the console in the terminal."),
        "exporter": Lazy("streamops.main.exporter:exporter", "Serve metrics to Prometheus."),
        **COMMANDS,
        "autoscale": joined(
            COMMANDS["autoscale"],
            {
                "run": Lazy(
                    "streamops.main.autoscaler:run", "Keep pools at the workers that their work asks for."
                ),
                "keda": Lazy("streamops.main.keda:keda", "Tell KEDA how many workers pools should have."),
            },
        ),
        "drill": Lazy(
            "streamops.main.drill:drill", "Drill an overload: a burst, workers killed, events that fail."
        ),
        "options": Lazy("streamops.main.program:options", "Print the global options and exit codes."),
        "version": Lazy("streamops.main.program:version", "Print the version."),
        "help": Lazy("streamops.main.program:help_of", "Print the help of a command."),
    },
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
)


@click.command(
    name="options",
    cls=Command,
    short_help="Print the global options and exit codes.",
    examples=[(f"{PROGRAM} options", "what every command takes")],
)
@click.pass_context
def options(ctx: click.Context) -> None:
    """Print the options that every command takes, before or after its name, and the exit codes of all commands."""
    click.echo(what_all_take(ctx))


def what_all_take(ctx: click.Context) -> str:
    """The global options and the exit codes, as text."""
    formatter = ctx.make_formatter()
    write_options(formatter, "Global options, before or after any command", GLOBAL_OPTIONS, ctx)
    with formatter.section("Exit codes"):
        formatter.write_dl([(str(code), meaning) for code, meaning in EXITS.items()])
    return formatter.getvalue().strip()


@click.command(
    name="version",
    cls=Command,
    short_help="Print the version.",
    examples=[(f"{PROGRAM} version", "the same as --version")],
)
def version() -> None:
    """Print the version."""
    click.echo(f"{PROGRAM} {__version__}")


@click.command(
    name="help",
    cls=Command,
    short_help="Print the help of a command.",
    examples=[(f"{PROGRAM} help groups ls", "the same as groups ls --help")],
)
@click.argument("command", nargs=-1)
def help_of(command: tuple[str, ...]) -> None:
    """Print the help of a command, or of all."""
    with ROOT.make_context(PROGRAM, [*command, "--help"]) as ctx:
        ROOT.invoke(ctx)


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
