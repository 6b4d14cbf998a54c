"""What the global options say."""

from enum import StrEnum
from typing import NamedTuple

import click


class Output(StrEnum):
    """The formats of ``--output``."""

    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"
    JSONL = "jsonl"
    YAML = "yaml"
    CSV = "csv"


class Globals(NamedTuple):
    """What was asked for besides the command itself; none where nothing was.

    Attributes:
        context: Name of the context to use.
        url: Connection URL, which wins over a context.
        read_only: Whether everything that changes anything is refused.
        output: The format of what goes to stdout.
        fields: Keys of the columns to show.
        limit: At most so many rows.
        timeout: Read timeout, in seconds.
        quiet: Whether narration is kept off stderr; errors are not.
        no_color: Whether colour is never used.
        no_input: Whether nothing is ever asked.
        log_level: What is logged to stderr; ``debug`` shows the traceback of a bug, too.
    """

    context: str | None = None
    url: str | None = None
    read_only: bool | None = None
    output: Output = Output.TABLE
    fields: tuple[str, ...] = ()
    limit: int | None = None
    timeout: float | None = None
    quiet: bool = False
    no_color: bool = False
    no_input: bool = False
    log_level: str | None = None


def globals_of(ctx: click.Context) -> Globals:
    """What has been given so far, by any command on the way to this one."""
    given: Globals | None = ctx.find_root().obj
    return given or Globals()
