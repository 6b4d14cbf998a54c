"""Acting in the invented shop: what opens a form and a plan, and what was planned."""

from typing import Any

from msgspec.structs import replace

from streamops.errors import StalePlan
from streamops.model.acting import Progress
from tests.support.invented import seconds
from tests.support.tui import acts
from tests.support.tui.shop import shop_source
from tests.support.tui.source import InventedSource

CLAIM_FORM = [*"jj", "enter", "end", "C"]
CLAIM_PLAN = [*"jj", "C", "space", "enter"]
DRIFTED = StalePlan("stream orders: another server answers now", "Nothing was done. Make a new plan.")


def planned(source: InventedSource) -> Any:  # noqa: ANN401 - whichever intent it was
    return source.planned[-1][0]


def long_work(**changes: object) -> InventedSource:
    step = Progress(410_000, 1_000_000, seconds(6.7), acts.JOB.id)
    source = shop_source(
        plan=replace(acts.CLAIM, count=1_000_000), steps=(step,), jobs=(acts.JOB,), **changes
    )
    source.hold.clear()
    return source
