"""How many units a batch may take, and what ends a run before."""

import pytest

from streamops.errors import Unreachable
from streamops.model.acting import Actor, Impact, Plan
from streamops.operations.audit_writer import AuditWriter
from streamops.operations.running import Run
from streamops.wire.options import ConnectionOptions
from streamops.wire.primary import Single
from streamops.wire.server import Server


def applying(*, recurring: bool = False) -> Run:
    """The application of a plan of ten units, on a server that nobody asks."""
    server = Server(ConnectionOptions())
    plan = Plan(
        operation="claim", target="orders/billing", impact=Impact.REDELIVERS, count=10, recurring=recurring
    )
    return Run(server, plan, audit=AuditWriter(server, Actor("ann", "here", 1)))


async def test_no_batch_takes_more_than_is_left_of_the_plan() -> None:
    run = applying()
    assert await run.batch_size(4) == 4
    await run.report(8)
    assert await run.batch_size(4) == 2
    assert await run.batch_size(4, done=9) == 1
    await run.report(2)
    assert await run.batch_size(4) == 0


async def test_what_goes_on_with_whatever_turns_up_is_not_bound_by_what_was_counted() -> None:
    run = applying(recurring=True)
    await run.report(10)
    assert await run.batch_size(4) == 4


async def test_another_primary_ends_it_whoever_was_told_of_that_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = applying()
    await run.report(8)
    # A poll on the same connections has heard of it.
    monkeypatch.setattr(Single, "changes", 1)
    with pytest.raises(Unreachable, match="another primary"):
        await run.batch_size(4)
    with pytest.raises(Unreachable, match="another primary"):
        await run.report(2)
