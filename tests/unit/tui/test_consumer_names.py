"""Forms that hand entries over offer the group's consumers, and take no name that nobody could read."""

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from streamops.model.fields import intent_fields
from streamops.model.observation import Finding, FindingCode, Health, Observation
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.registry import OPERATIONS
from streamops.tui.acting.offers import consumers_for, names_for
from streamops.tui.app import StreamopsApp
from streamops.tui.rows.selection import Selection, SelectionKind
from tests.support.tui import sample
from tests.support.tui.driving import bar, names, press, running, shown, until
from tests.support.tui.source import InventedSource, app_for

FULFILMENT = [*"jj", "enter"]
CLAIM = [*FULFILMENT, "end", "C"]


def shop(receiver: str | None = None) -> InventedSource:
    return InventedSource(_advising(sample.shop(), receiver), sample.entries(), sample.pending_rows())


def receiver(app: StreamopsApp) -> Input:
    focused = app.focused
    assert isinstance(focused, Input)
    return focused


async def test_space_in_an_empty_receiver_goes_through_the_consumers_of_the_group_and_is_told_there_alone() -> (
    None
):
    app = app_for(shop())
    async with running(app):
        await press(app, *CLAIM)
        await shown(app, "Space chooses: worker-5, worker-6")
        assert "Space choose" in bar(app, "keys")
        for name in ("worker-5", "worker-6", "worker-5"):
            await press(app, "space")
            assert receiver(app).value == name
        await press(app, "x", "space")
        assert receiver(app).value == "worker-5x "
        await press(app, "down", "down")
        await shown(app, "Only entries last delivered at least this long ago")
        assert "Space choose" not in bar(app, "keys")


async def test_receiver_that_the_advice_names_is_filled_in() -> None:
    source = shop("worker-3")
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM, "enter")
        await shown(app, "Cancel")
        (intent, _), *_ = source.planned
        assert isinstance(intent, ClaimIntent)
        assert (intent.source, intent.to) == ("worker-7", "worker-3")


def test_receiver_that_the_advice_names_is_not_the_one_it_is_taken_from() -> None:
    selection = Selection(
        sort=SelectionKind.CONSUMER, stream="orders", group="fulfilment", consumer="worker-7"
    )
    observation = _advising(sample.shop(), "worker-7")
    assert consumers_for(OPERATIONS["claim"].intent, observation.streams, selection) == {}


def test_claim_of_a_group_is_filled_in_with_its_dead_consumer_and_the_other_row_does_not_offer_it() -> None:
    selection = Selection(sort=SelectionKind.GROUP, stream="orders", group="fulfilment")
    observation, claim = _advising(sample.shop(), "worker-5", "worker-7"), ClaimIntent
    filled = consumers_for(claim, observation.streams, selection)
    assert filled == {"to": "worker-5", "source": "worker-7"}
    offered = {
        field.name: names_for(field, observation.streams, selection, filled)
        for field in intent_fields(claim)
        if field.completes == "consumers"
    }
    assert offered == {"to": ["worker-5", "worker-6"], "source": ["worker-6", "worker-7"]}


async def test_dead_consumer_is_the_first_of_its_group() -> None:
    app = app_for(InventedSource(_advising(sample.shop(), "worker-5", "worker-7"), sample.entries()))
    async with running(app):
        await press(app, *FULFILMENT)
        await until(app, lambda: names(app)[:1] == ["worker-7"])


async def test_receiver_without_a_readable_name_is_refused_by_the_form() -> None:
    source = shop()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM)
        for name in (" ", "worker\t1"):
            receiver(app).value = name
            await press(app, "enter")
            await shown(app, "✗")
        assert not source.planned


@pytest.mark.parametrize(("operation", "filled"), [("claim", {"to": "worker-3"}), ("replay", {})])
def test_receiver_that_is_a_stream_is_no_consumer(operation: str, filled: dict[str, str]) -> None:
    selection = Selection(sort=SelectionKind.GROUP, stream="orders", group="fulfilment", dead_letters=True)
    observation = _advising(sample.shop(), "worker-3")
    assert consumers_for(OPERATIONS[operation].intent, observation.streams, selection) == filled


def _advising(observation: Observation, receiver: str | None, dead: str | None = None) -> Observation:
    """The same with one finding about ``orders/fulfilment``, whose advice names a consumer."""
    found = Finding(
        FindingCode.DEAD_CONSUMER, Health.WARN, "worker-7 is gone", "hand over", receiver, consumer=dead
    )
    return replace(
        observation,
        streams=tuple(
            replace(
                stream,
                groups=tuple(
                    replace(group, findings=(found,)) if group.group.name == "fulfilment" else group
                    for group in stream.groups
                ),
            )
            for stream in observation.streams
        ),
    )
