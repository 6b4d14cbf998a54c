"""``streamops trim``: one stream by hand, or those that the configuration has policies for."""

from datetime import timedelta
from typing import Any, Final

import click

from streamops.cli.acting.choices import take_choices
from streamops.cli.acting.command import ActingCommand, acting_command
from streamops.cli.params import DURATION
from streamops.cli.session import Session, with_session
from streamops.operations.trim.intent import TrimIntent

_BY_HAND: Final = acting_command(TrimIntent)


@with_session
def _trim(session: Session, /, *, policies: bool, every: timedelta | None, **values: Any) -> Any:  # noqa: ANN401 - as the command by hand has it
    ctx = click.get_current_context()
    if policies:
        if given := [
            name for name in ("stream", "maxlen", "minid", "before", "backup") if values[name] is not None
        ]:
            raise click.UsageError(
                f"--policies says which streams and how far: leave out {', '.join(given)}", ctx
            )
        if values["exact"] or not values["safe"]:
            raise click.UsageError(
                "--policies say themselves whether they are exact, and are always safe", ctx
            )
        # Only who has policies pays for them.
        from streamops.cli.trimming import trim_by_policies  # noqa: PLC0415

        return trim_by_policies(session, take_choices(values), every)
    if every is not None:
        raise click.UsageError("--every goes with --policies", ctx)
    if values["stream"] is None:
        raise click.UsageError("name a stream, or give --policies", ctx)
    return _BY_HAND.callback(**values) if _BY_HAND.callback else None


def _params() -> list[click.Parameter]:
    for param in _BY_HAND.params:
        if param.name == "stream":
            param.required = False
    return [
        *_BY_HAND.params,
        click.Option(
            ["--policies"], is_flag=True, help="Trim as the configuration's [[retention]] tables say."
        ),
        click.Option(
            ["--every"],
            type=DURATION,
            metavar="SPAN",
            help="With --policies: again and again, so far apart, until it is stopped.",
        ),
    ]


trim = ActingCommand(
    "trim",
    callback=_trim,
    params=_params(),
    help=_BY_HAND.help,
    short_help=_BY_HAND.short_help,
    examples=_BY_HAND.examples,
    exits=_BY_HAND.exits,
    rated=True,
)
