"""A small benchmark."""

from streamops.model.bench import BenchPlan

SMALL = BenchPlan(entries=60, concurrency=4, batch=50, rate=1_000, bare=True)
MEASURED = {
    "publish-one-by-one",
    "publish-at-once",
    "publish-batches",
    "consume",
    "end-to-end",
    "promotion",
}


def nobody(what: str, done: int, total: int) -> None:
    """Tell nobody."""
