"""A plan and an outcome, invented."""

from datetime import timedelta

from streamops.model.acting import Failed, Impact, Outcome, Plan, Skipped

PLAN = Plan(
    operation="trim",
    target="orders",
    impact=Impact.DESTRUCTIVE,
    count=1_200,
    sample=("1-0 …", "2-0 …"),
    effects=("1,200 entries go.", "Group billing loses 3."),
    loses="3 entries that group billing has not read.",
    undo="",
    command="streamops trim orders --maxlen 10 --unsafe",
    confirm="orders",
    held_back_by="group mail at 5-0",
    warnings=("Look twice.",),
    fingerprint="0123456789ab",
)
OUTCOME = Outcome(
    operation="claim",
    target="orders/billing",
    requested=100,
    applied=70,
    skipped=tuple(Skipped(f"{number}-0", "no longer idle") for number in range(25)),
    skipped_count=25,
    failed=(Failed("9-9", "too large"),),
    failed_count=5,
    notes=("2 entries no longer exist: 1-0, 2-0.",),
    job="4f1c09ab12cd",
    audit_id="7-0",
    elapsed=timedelta(seconds=3),
)
