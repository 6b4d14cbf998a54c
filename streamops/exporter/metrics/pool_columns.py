"""The values of pools and their controllers. Pure."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from streamops.exporter.catalogue.others import AUTOSCALER_DECISIONS, AUTOSCALER_SIGNAL
from streamops.exporter.metrics.guards import namesakes
from streamops.exporter.metrics.labels import make_labels
from streamops.exporter.metrics.samples import Block, Samples, Value, labelled, milliseconds
from streamops.exporter.metrics.stream_columns import column, instants
from streamops.model.pools import Pool, PoolDecision, Signals
from streamops.model.queue_metrics import Extras
from streamops.model.safe_text import encodable

SIGNALS: Final[tuple[tuple[str, Callable[[Signals], Value]], ...]] = (
    ("arrivals", lambda told: told.arrivals),
    ("expected_arrivals", lambda told: told.coming),
    ("worker_rate", lambda told: told.rate),
    ("wait", lambda told: told.wait),
    ("predicted_wait", lambda told: told.predicted),
    ("objective", lambda told: told.objective),
    ("busy", lambda told: told.busy),
    ("start_up", lambda told: told.start_up),
    ("cap", lambda told: told.cap),
)


FORGOTTEN: Final = timedelta(days=1)
"""A pool that nobody has decided about for so long has no controller any more, and is not told."""


def pool_blocks(extras: Extras) -> Samples:
    """What is told of pools that have, or had, a controller."""
    doubles = namesakes([pool.name for pool in extras.pools])
    pools = [pool for pool in extras.pools if pool.name not in doubles and _is_scaled(pool, extras.pools_at)]
    led = [_is_led(pool, extras.pools_at) for pool in pools]
    seen = [_seen(pool) if leads else None for pool, leads in zip(pools, led, strict=True)]
    return (
        _sizes(pools, led, seen),
        labelled(
            AUTOSCALER_DECISIONS,
            {
                (encodable(pool.name), direction, reason): number
                for pool in pools
                for (direction, reason), number in sorted(pool.decisions.items())
                # Anybody can write a field: what is no word of ours could print like another one.
                if _is_word(direction) and _is_word(reason)
            },
        ),
        labelled(
            AUTOSCALER_SIGNAL,
            {
                (encodable(pool.name), name): value(last.signals)
                for pool, last in zip(pools, seen, strict=True)
                for name, value in SIGNALS
                if last is not None
            },
        ),
    )


def _sizes(pools: Sequence[Pool], led: Sequence[bool], seen: Sequence[PoolDecision | None]) -> Block:
    return Block(
        [make_labels(("pool",), (pool.name,)) for pool in pools],
        (
            column("autoscaler_current_replicas", [None if one is None else one.ordered for one in seen]),
            column("autoscaler_desired_replicas", [None if one is None else one.target for one in seen]),
            column("autoscaler_min_replicas", _while_led([pool.minimum for pool in pools], led)),
            column("autoscaler_max_replicas", _while_led([pool.maximum for pool in pools], led)),
            instants(
                "autoscaler_last_evaluation",
                [None if pool.last is None else milliseconds(pool.last.at) for pool in pools],
            ),
            column("autoscaler_apply_errors_total", [pool.errors for pool in pools]),
        ),
    )


def _while_led(values: Sequence[Value], led: Sequence[bool]) -> list[Value]:
    return [value if leads else None for value, leads in zip(values, led, strict=True)]


def _is_scaled(pool: Pool, now: datetime | None) -> bool:
    return pool.last is not None and (now is None or now - pool.last.at < FORGOTTEN)


def _is_word(text: str) -> bool:
    return text.isascii() and text.isidentifier()


def _is_led(pool: Pool, now: datetime | None) -> bool:
    return pool.lead is not None and now is not None and pool.lead.until > now


def _seen(pool: Pool) -> PoolDecision | None:
    return pool.last if pool.last is not None and pool.last.was_read else None
