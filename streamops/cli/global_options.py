"""The global options: accepted before and after a command's name, and the later one wins."""

from typing import Any, Final

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from streamops.cli.globals import Output, globals_of


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:  # noqa: ANN401 - any option's value
    if ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
        ctx.find_root().obj = globals_of(ctx)._replace(**{param.name: value})


def _remember_output(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    _remember(ctx, param, Output(value) if value else None)


def _remember_fields(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    _remember(ctx, param, tuple(key.strip() for key in (value or "").split(",") if key.strip()))


def _complete_contexts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    # Imported when a shell asks: settings cost more than all of the help.
    from streamops.cli.completing import complete_contexts  # noqa: PLC0415

    return complete_contexts(ctx, param, incomplete)


def _option(*names: str, **attributes: Any) -> click.Option:
    return click.Option(names, expose_value=False, **({"callback": _remember} | attributes))


GLOBAL_OPTIONS: Final = (
    _option(
        "-c",
        "--context",
        metavar="NAME",
        help="Use this context of the configuration.",
        shell_complete=_complete_contexts,
    ),
    _option(
        "--url",
        metavar="URL",
        help="Connect here: redis://, rediss://, unix://, valkey://, redis+sentinel://.",
    ),
    _option("--read-only", is_flag=True, help="Refuse every change."),
    _option(
        "-o",
        "--output",
        type=click.Choice([str(output) for output in Output]),
        callback=_remember_output,
        help="Output format.",
    ),
    _option(
        "--fields",
        metavar="A,B",
        callback=_remember_fields,
        help="Show these columns, in this order; a wrong name lists the known ones.",
    ),
    _option("--limit", metavar="N", type=click.IntRange(min=1), help="Print at most N rows."),
    _option(
        "--timeout",
        metavar="SECONDS",
        type=click.FloatRange(min=0, max=3600, min_open=True),
        help="Read timeout.",
    ),
    _option("-q", "--quiet", is_flag=True, help="Print data and errors only."),
    _option("--no-color", is_flag=True, help="Never use colour; NO_COLOR does the same."),
    _option("--no-input", is_flag=True, help="Never ask; refuse what needs an answer."),
    _option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        help="Log to stderr from this level on; debug shows tracebacks.",
    ),
)
