"""Cancel has the focus wherever a plan says that it cannot be undone, however little care the place deserves."""

import pytest
from msgspec.structs import replace

from streamops.model.acting import Environment, Impact, Plan
from tests.support.tui import acts
from tests.support.tui.acting_shop import CLAIM_PLAN
from tests.support.tui.driving import press, running, shown
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

REPLAY = replace(acts.ACK, operation="replay", undo="", loses="")


@pytest.mark.parametrize(
    ("plan", "environment"),
    [
        (REPLAY, Environment.DEVELOPMENT),
        (replace(acts.TRIM, impact=Impact.REDELIVERS), Environment.STAGING),
    ],
)
async def test_plan_that_cannot_be_undone_has_cancel_focused(plan: Plan, environment: Environment) -> None:
    source = shop_source(plan=plan, environment=environment)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "not by `streamops undo`")
        await press(app, "enter", "enter")
        assert not source.applied


async def test_irreversible_plan_in_development_is_applied_from_the_next_button() -> None:
    source = shop_source(plan=REPLAY, environment=Environment.DEVELOPMENT)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Tab, then Enter applies")
        await press(app, "tab", "enter")
        await shown(app, "10 of 12")
