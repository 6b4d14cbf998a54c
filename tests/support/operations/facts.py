"""Facts of a plan in short: how many, by kind and reason, of a group."""

from streamops.model.acting import Plan
from streamops.model.entries import Amount


def counts(plan: Plan, kind: str = "", group: str = "") -> dict[str, int | Amount | None]:
    """What the facts of a plan count, by ``kind.reason``, or by the reason of one kind; bounds if it is not exact."""
    return {
        fact.reason if kind else f"{fact.kind}.{fact.reason}": fact.count.upper
        if fact.count is not None and fact.count.exact
        else fact.count
        for fact in plan.facts
        if kind in {"", str(fact.kind)} and group in {"", fact.group}
    }
