"""``streamops options``, ``version``, ``help`` and ``completion``: about the command line itself."""

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from streamops import __version__
from streamops.cli.command import EXITS, Command, write_options
from streamops.cli.global_options import GLOBAL_OPTIONS

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "streamops"
VARIABLE = "_STREAMOPS_COMPLETE"


@click.command(
    cls=Command,
    examples=[("streamops options", "what every command takes")],
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
    cls=Command,
    examples=[("streamops version", "the same as --version")],
)
def version() -> None:
    """Print the version."""
    click.echo(f"streamops {__version__}")


def _complete_command(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001 - click's signature
    at: click.Command | None = ctx.find_root().command
    for word in ctx.params.get("command") or ():
        at = at.get_command(ctx, word) if isinstance(at, click.Group) else None
    names = at.list_commands(ctx) if isinstance(at, click.Group) else []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(
    cls=Command,
    examples=[("streamops help groups ls", "the same as groups ls --help")],
)
@click.argument("command", nargs=-1, shell_complete=_complete_command)
@click.pass_context
def help_of(ctx: click.Context, command: tuple[str, ...]) -> None:
    """Print the help of a command, or of all."""
    root = ctx.find_root()
    with root.command.make_context(root.info_name, [*command, "--help"]) as asked:
        root.command.invoke(asked)


@click.command(
    cls=Command,
    examples=[
        ('eval "$(streamops completion bash)"', "in ~/.bashrc"),
        ('eval "$(streamops completion zsh)"', "in ~/.zshrc"),
        ("streamops completion fish > ~/.config/fish/completions/streamops.fish", "once"),
    ],
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of SHELL, to be loaded from its start-up file.

    Names of streams and groups are completed from the server where it answers within 300 ms.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"there is no completion for {shell}")
    script = kind(ctx.find_root().command, {}, PROGRAM, VARIABLE)
    # The shells' own versions of this run the shell first, to check its version.
    click.echo(ShellComplete.source(script), nl=False)
