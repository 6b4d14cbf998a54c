"""``streamops scale set`` and ``autoscale pause|resume|override|limits``: acts on pools of workers."""

from typing import Final

from streamops.cli.acting.command import acting_command
from streamops.operations.autoscale.intent import (
    LimitsIntent,
    OverrideIntent,
    PauseScalingIntent,
    ResumeScalingIntent,
    ScaleIntent,
)

_EXITS: Final = {4: "refused: read-only, or not permitted", 6: "it was told something else meanwhile"}

scale_set = acting_command(
    ScaleIntent,
    "set",
    "Ask whoever runs a pool's workers for another number.",
    help=(
        "Ask whoever runs a pool's workers for another number: the supervisors of `streamops run --workers auto`, or what "
        "[pools.NAME] says: an object in Kubernetes, a program, a URL. It is refused where the number is no longer the one "
        "that was read. It is not asked for consent. A controller that decides about the pool may ask for another number "
        "within seconds; `autoscale override` keeps it from that."
    ),
    examples=[
        ("streamops scale set billing 8", "eight workers"),
        ("streamops scale set billing 8 --current 4", "only if there are four"),
        ("streamops scale set billing 8 --dry-run", "how many there are, and what would happen"),
    ],
    exits={1: "the target failed", **_EXITS},
)
pause = acting_command(
    PauseScalingIntent,
    "pause",
    "Have the controller of a pool change nothing, for the time being.",
    help=(
        "Have the controller of a pool change nothing, until it is resumed or the time is over. It goes on looking, and "
        "`autoscale explain` tells what it would have done. The workers go on; `streamops pause` is for those."
    ),
    examples=[
        ("streamops autoscale pause billing --for 2h --reason 'migration'", "nothing changes for two hours"),
        ("streamops autoscale pause billing", "until `streamops autoscale resume billing`"),
    ],
    exits=_EXITS,
)
resume = acting_command(
    ResumeScalingIntent,
    "resume",
    "Have the controller of a pool decide by the policy again.",
    help="Have the controller of a pool decide by the policy again: ends a pause and an override. Limits stay.",
    examples=[("streamops autoscale resume billing", "the policy decides again")],
    exits=_EXITS,
)
override = acting_command(
    OverrideIntent,
    "override",
    "Have the controller of a pool keep a number of workers.",
    help=(
        "Have the controller of a pool keep a number of workers, whatever the policy says and whatever its limits are, "
        "for a time: an hour unless --for says another. `autoscale resume` ends it."
    ),
    examples=[
        ("streamops autoscale override billing 12 --for 4h", "twelve workers through the sale"),
        ("streamops autoscale override billing 0 --for 10m", "none, while the database is moved"),
    ],
    exits=_EXITS,
)
limits = acting_command(
    LimitsIntent,
    "limits",
    "Have the controller of a pool keep to other limits.",
    help=(
        "Have the controller of a pool keep to other limits than the configuration says, from its next decision on. A "
        "limit that is not given stays as it is; --reset takes it back to the configuration. --max bounds the plan, "
        "as for every command, and is no limit of the pool."
    ),
    examples=[
        ("streamops autoscale limits billing --maximum 40", "up to forty workers"),
        ("streamops autoscale limits billing --reset", "as the configuration says again"),
    ],
    exits=_EXITS,
)
