"""``streamops replay``."""

import click

from streamops.cli.acting.choices import take_choices
from streamops.cli.acting.command import acting_command
from streamops.cli.acting.flow import act_on
from streamops.cli.session import Session, with_session
from streamops.model.acts.replay import ReplayIntent

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
)


_start = replay.callback


@with_session
def _replay(session: Session, /, **values: object) -> object:
    job = values.pop("resume")
    if job is None:
        return _start(**values) if _start else None
    choices = take_choices(values)
    return act_on(session, lambda console: console.prepare_rest(str(job), choices.limits), choices)


replay.params.append(
    click.Option(["--resume"], metavar="JOB", help="Go on with an interrupted replay of this queue.")
)
replay.callback = _replay
