"""What a verdict may come to."""

from math import ceil

from msgspec.structs import replace

from streamops.model.scaling import ScaleCode
from streamops.scaling.config import ScalingConfig
from streamops.scaling.view import Verdict, View
from streamops.scaling.wording import spell


def limited(view: View, verdict: Verdict) -> Verdict:
    """The verdict within what is of use and within the limits; the limits have the last word."""
    useful = _useful(view, verdict)
    target = within(view.config, useful.target)
    if target == useful.target:
        return useful
    said = f"{useful.text}; limits are {view.config.minimum} to {view.config.maximum}: {target}"
    held = useful.target == view.demand.ordered
    return Verdict(target, ScaleCode.LIMIT if held else useful.code, said)


def within(config: ScalingConfig, target: int) -> int:
    """A number of workers brought within the limits."""
    return min(config.maximum, max(config.minimum, target))


def _useful(view: View, verdict: Verdict) -> Verdict:
    """An up goes no further than there are lanes, or portions of work for each; never below what there is."""
    useful = useful_workers(view)
    ceiling = verdict.target if useful is None else max(useful, view.demand.ordered)
    if verdict.target <= ceiling:
        return verdict
    said = f"{verdict.text}; no more than {spell(ceiling)} would have work"
    return replace(verdict, target=ceiling, text=said)


def useful_workers(view: View) -> int | None:
    """How many workers can have work at all: lanes, or portions of what is there and will be; none where unknown."""
    config, demand = view.config, view.demand
    if view.waiting is None:
        return config.lanes
    steady = ceil(view.coming / (config.tuning.use * view.rate)) if view.rate else 1
    portions = max(1, steady, ceil((view.backlog + demand.pending) / config.prefetch))
    return portions if config.lanes is None else min(config.lanes, portions)
