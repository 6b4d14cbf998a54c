"""What plans of deletions say."""

from msgspec.structs import replace

from streamops.model.acting import Impact, StreamIdentity
from streamops.model.entries import EntryId
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from streamops.operations.streams_rm_entry.plan import DeleteEvidence, GroupEffect, plan_delete
from streamops.operations.streams_rm_entry.run import DELETE

IDS = (EntryId(1, 0), EntryId(2, 0))
ASKED = DeleteIntent(stream="orders", ids=IDS)
FOUND = DeleteEvidence(
    identity=StreamIdentity(("a",), EntryId(9, 0), (("billing", EntryId(6, 0)),)),
    existing=IDS,
    groups=(GroupEffect("billing", 0, (("worker-1", 2),)),),
    entry_bytes=10,
    counts_lag=True,
)


def test_by_xdel_pending_rows_stay_and_point_to_nothing() -> None:
    plan = plan_delete(ASKED, FOUND)
    assert plan.impact is Impact.DESTRUCTIVE
    assert plan.effects[:2] == (
        "2 entries are deleted for all groups, by XDEL.",
        "Group billing keeps 2 pending rows that point to nothing (worker-1 2).",
    )


def test_by_xdelex_they_go_as_well() -> None:
    plan = plan_delete(ASKED, replace(FOUND, by_xdelex=True))
    assert plan.effects[:2] == (
        "2 entries are deleted for all groups, by XDELEX with DELREF: their pending rows go as well.",
        "Group billing loses 2 pending entries (worker-1 2).",
    )


def test_the_permission_is_asked_for_the_command_that_is_sent() -> None:
    assert DELETE.resolve_defaults is not None
    settled = DELETE.resolve_defaults(ASKED, replace(FOUND, by_xdelex=True))
    assert DELETE.writes_of(settled) == (("XDELEX", "orders"),)
    assert DELETE.writes_of(DELETE.resolve_defaults(ASKED, FOUND)) == (("XDEL", "orders"),)
