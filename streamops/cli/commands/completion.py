"""``streamops completion``: the script that makes a shell complete commands and names."""

import click
from click.shell_completion import ShellComplete, get_completion_class

from streamops.cli.command import Command
from streamops.cli.output.printer import write

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "streamops"
VARIABLE = "_STREAMOPS_COMPLETE"


@click.command(
    cls=Command,
    short_help="Print the completion script of a shell.",
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
    write(ShellComplete.source(script))
