"""``streamops replay``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from streamops.cli.acting.choices import Choices
from streamops.cli.acting.command import OtherPlan, acting_command
from streamops.errors import SettingsError
from streamops.operations.replay.intent import ReplayIntent

if TYPE_CHECKING:
    from streamops.cli.acting.flow import Prepare
    from streamops.operations.console import Console
    from streamops.operations.operation import Prepared


def _rest_of(values: Mapping[str, Any], choices: Choices) -> "Prepare":
    """How to plan the rest of a replay of this queue."""
    queue, token = values["queue"], values["resume"]

    async def prepare(console: "Console") -> "Prepared[Any, Any]":
        job = await console.read_job(token)
        if (job.operation, job.target) != ("replay", queue):
            raise SettingsError(
                f"job {token} is {job.operation} of {job.target}, not replay of {queue}",
                f"Continue it with `streamops jobs resume {token}`.",
            )
        return await console.prepare_rest(token, choices.limits)

    return prepare


replay = acting_command(
    ReplayIntent,
    other=OtherPlan(
        click.Option(["--resume"], metavar="JOB", help="Continue an interrupted replay of this queue."),
        _rest_of,
    ),
)
