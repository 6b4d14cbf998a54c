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
                f"Go on with it by `streamops jobs resume {token}`.",
            )
        return await console.prepare_rest(token, choices.limits)

    return prepare


replay = acting_command(
    ReplayIntent,
    "replay",
    "Replay dead letters.",
    help=(
        "Hand the entries of dead letters on to where they are worked on, and take the letters out of their queue: "
        "to the stream that each came from, or to another one. Inside one server, or one slot of a cluster, each "
        "moves in one step; between slots it is handed on effectively once, by markers. Own fields keep their bytes "
        "and their order. What dies again during the replay is not replayed again. An interrupted replay goes on "
        "with --resume JOB, or `streamops jobs resume JOB`: nothing is lost, nothing comes twice."
    ),
    examples=[
        ("streamops replay '{orders}:dlq' --dry-run", "what would go where: the plan alone"),
        (
            "streamops replay '{orders}:dlq' --mode retry --since 1h --yes",
            "the last hour's, to the group that failed",
        ),
        (
            "streamops replay '{orders}:dlq' --where 'fields.country == `\"DE\"`' --edit currency=EUR --rate 50/s --yes",
            "some of them, corrected, slowly",
        ),
    ],
    rated=True,
    other=OtherPlan(
        click.Option(["--resume"], metavar="JOB", help="Go on with an interrupted replay of this queue."),
        _rest_of,
    ),
)
