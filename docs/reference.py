"""Writes ``docs/commands.md`` and the README's table of numbers, from the commands and columns themselves.

python -m docs.reference           write them
python -m docs.reference --check   say what is out of date, and fail
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from streamops.cli.command import Family
from streamops.main.program import PROGRAM, ROOT
from streamops.present.columns import GROUP_COLUMNS

ROOT_DIRECTORY = Path(__file__).parent.parent
COMMANDS_FILE = ROOT_DIRECTORY / "docs" / "commands.md"
README_FILE = ROOT_DIRECTORY / "README.md"
BEGIN, END = "<!-- numbers: written by make docs -->", "<!-- /numbers -->"
WIDTH = 100


def main() -> int:
    """Write or check both files; 1 where one is out of date."""
    wanted = {COMMANDS_FILE: render_commands(), README_FILE: render_readme(README_FILE.read_text())}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(ROOT_DIRECTORY)} is out of date: run `make docs`\n")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
    return 0


def render_commands() -> str:
    """The help of every command, as Markdown."""
    parts = ["# Commands", "", "Written by `make docs` from `--help`.", ""]
    for words, context in walk(ROOT, click.Context(ROOT, info_name=PROGRAM, terminal_width=WIDTH)):
        parts += [f"## `{words}`", "", "```text", context.get_help().rstrip(), "```", ""]
    return "\n".join(parts)


def walk(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Context]]:
    """A command and everything below it, with the words that call it."""
    yield context.command_path, context
    if isinstance(command, Family):
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            if member is not None:
                yield from walk(
                    member, click.Context(member, parent=context, info_name=name, terminal_width=WIDTH)
                )


def render_readme(text: str) -> str:
    """The README with its table of numbers renewed."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    rows = [f"| {column.title} | {column.help.replace('|', chr(92) + '|')} |" for column in GROUP_COLUMNS]
    table = "\n".join(["| Column | What it means |", "|---|---|", *rows])
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


if __name__ == "__main__":
    sys.exit(main())
