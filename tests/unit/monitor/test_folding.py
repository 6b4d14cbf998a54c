"""Retry streams are told with their groups, and nothing that was found about them is lost."""

import pytest

from streamops.model.observation import (
    Finding,
    FindingCode,
    GroupView,
    Health,
    Rates,
    Retries,
    StreamView,
)
from streamops.model.streams import StreamRole
from streamops.monitor.observe import findings_of_owners, fold_retries, without_repeats
from tests.support.invented import exact, group, stream

OLD = Finding(FindingCode.PENDING_OLD, Health.WARN, "entry 1-1 is old", "Look.")
IDLE = Finding(FindingCode.NO_CONSUMERS, Health.CRITICAL, "nobody reads", "Start one.")
RETRIES = "{orders}:retry:billing"


def view_of(name: str, *groups: GroupView, source: str | None = None, length: int = 0) -> StreamView:
    role = StreamRole.EVENTS if source is None else StreamRole.RETRY
    state = stream(name, [one.group for one in groups], role=role, source=source, length=length)
    health = max((one.health for one in groups), default=Health.OK)
    return StreamView(state, None, (), groups, health)


def group_of(owner: str, name: str, *findings: Finding, pending: int = 0, lag: int = 0) -> GroupView:
    health = max((one.level for one in findings), default=Health.OK)
    return GroupView(owner, group(name, pending=pending, lag=exact(lag)), Rates(), (), None, findings, health)


def test_a_retry_stream_is_told_with_its_group() -> None:
    orders = view_of("orders", group_of("orders", "billing"), group_of("orders", "mail"))
    other = view_of("other", group_of("other", "billing"))
    retries = view_of(RETRIES, group_of(RETRIES, "billing", OLD, pending=2, lag=1), source="orders", length=3)
    first, second = fold_retries([orders, retries, other])
    assert second is other
    billing, mail = first.groups
    assert billing.retries == Retries(RETRIES, 3, 2, exact(1))
    assert mail is orders.groups[1]
    assert (billing.health, first.health, mail.health) == (Health.WARN, Health.WARN, Health.OK)
    (found,) = billing.findings
    assert found.code is FindingCode.PENDING_OLD
    assert found.text == "in its retry stream '{orders}:retry:billing': entry 1-1 is old"


def test_what_is_said_of_both_is_said_once_and_the_worst_comes_first() -> None:
    orders = view_of("orders", group_of("orders", "billing", OLD))
    retries = view_of(RETRIES, group_of(RETRIES, "billing", IDLE, OLD), source="orders")
    (first,) = fold_retries([retries, orders])
    assert [found.code for found in first.groups[0].findings] == [IDLE.code, OLD.code]
    assert first.groups[0].findings[1] is OLD


LOST = Finding(FindingCode.LOST, Health.CRITICAL, "entries were lost", "Look.")
WORSE = Finding(FindingCode.PENDING_OLD, Health.CRITICAL, "entry 1-1 is old", "Look.")


@pytest.mark.parametrize(
    ("of_group", "of_retries", "told"),
    [
        ((), (OLD, IDLE), (OLD, IDLE)),
        ((OLD,), (OLD,), ()),
        ((OLD,), (WORSE,), (WORSE,)),
        # One dead group: whatever else is wrong with its retries.
        ((IDLE,), (OLD, WORSE), ()),
        # What else is critical says nothing of its retries.
        ((LOST,), (IDLE,), (IDLE,)),
    ],
)
def test_a_retry_stream_does_not_repeat_what_is_told_of_its_group(
    of_group: tuple[Finding, ...], of_retries: tuple[Finding, ...], told: tuple[Finding, ...]
) -> None:
    orders = view_of("orders", group_of("orders", "billing", *of_group), group_of("orders", "mail", IDLE))
    retries = view_of(RETRIES, group_of(RETRIES, "billing", *of_retries), source="orders")
    owners = findings_of_owners([orders, retries])
    assert without_repeats(retries.groups[0], owners) == told
    assert without_repeats(orders.groups[0], owners) == of_group


def test_what_belongs_to_no_group_there_is_stays_as_it_is() -> None:
    orders = view_of("orders", group_of("orders", "mail"))
    alone = view_of(RETRIES, group_of(RETRIES, "billing"), source="orders")
    crowded = view_of(RETRIES, group_of(RETRIES, "mail"), group_of(RETRIES, "x"), source="orders")
    for streams in ([orders, alone], [orders, crowded], [alone], [orders]):
        assert fold_retries(streams) == streams
