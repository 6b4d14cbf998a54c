from datetime import timedelta

from streamops.model.retention import RetentionCandidate, RetentionPolicy
from streamops.operations.retention import plan_retention
from streamops.operations.trim.intent import TrimIntent

WEEK = timedelta(days=7)
ORDERS = RetentionPolicy(streams=("orders:*",), maxlen=100, max_age=WEEK)
ALL = RetentionPolicy(streams=("*",), maxlen=5, exact=True)


def streams(*names: str) -> list[RetentionCandidate]:
    return [RetentionCandidate(name, set_aside=name.endswith(":dlq")) for name in names]


def test_the_first_policy_that_matches_counts_with_all_its_bounds() -> None:
    assert plan_retention([ORDERS, ALL], streams("orders:eu", "payments")) == (
        TrimIntent(stream="orders:eu", maxlen=100),
        TrimIntent(stream="orders:eu", before=WEEK),
        TrimIntent(stream="payments", maxlen=5, exact=True),
    )


def test_what_no_policy_matches_is_left_alone() -> None:
    assert plan_retention([ORDERS], streams("payments")) == ()
    assert plan_retention([], streams("payments")) == ()


def test_dead_letters_are_meant_by_their_names_alone() -> None:
    named = RetentionPolicy(streams=("orders:dlq",), maxlen=9)
    assert plan_retention([ORDERS, ALL], streams("orders:dlq")) == ()
    assert plan_retention([ALL, named], streams("orders:dlq")) == (TrimIntent(stream="orders:dlq", maxlen=9),)
