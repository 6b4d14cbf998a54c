"""Pieces of PromQL that many rules share: who belongs to whom, what is fresh, what is not judged."""

from datetime import timedelta
from typing import Final

from dashboards.rules.pace import MINUTE, Pace

EXPORTER: Final = "on (job, instance)"
"""One exporter's reading of one Redis. Two exporters that read the same Redis are judged apart."""
STREAM: Final = "on (job, instance, db, stream)"
GROUP: Final = "on (job, instance, db, stream, group)"

GROUP_WORDS: Final = "group {{ $labels.group }} of stream {{ $labels.stream }}"

FROZEN_AFTER: Final = 3 * MINUTE

UNJUDGED: Final = f"unless {STREAM} streamops_dlq_entries"
"""Groups of dead-letter queues are not judged: such a group reads when a person wants it to."""


def fresh(pace: Pace) -> str:
    """Nothing is concluded from counters that stand still because no snapshot was taken.

    This does not compare clocks, so that one which is wrong silences nothing.
    """
    return f"unless {EXPORTER} changes(streamops_snapshot_timestamp_seconds[{pace.range(FROZEN_AFTER)}]) == 0"


def standing(what: str, span: timedelta, pace: Pace) -> str:
    """A counter of groups was there when the span began, and has not moved since.

    Args:
        what: ``delivered`` or ``acked``.
        span: How long.
        pace: What that is divided by.
    """
    counter, window = _counter(what), pace.range(span)
    return f"and increase({counter}[{window}]) == 0 and {counter} offset {window}\n{_nothing_untold(what, window)}"


def not_moving(what: str, span: timedelta, pace: Pace) -> str:
    """A counter of groups did not move within the span; nothing is excluded where it is absent."""
    window = pace.range(span)
    return f"unless increase({_counter(what)}[{window}]) > 0\n{_nothing_untold(what, window)}"


def _counter(what: str) -> str:
    return f"streamops_group_{what}_entries_total"


def _nothing_untold(what: str, window: str) -> str:
    """What moved by a step that could not be told did move."""
    return f'unless {GROUP} increase(streamops_group_uncounted_total{{what="{what}"}}[{window}]) > 0'


def age(timestamp: str, *labels: str) -> str:
    """Time since a timestamp, by Redis's clock: that of the snapshot which holds it.

    Args:
        timestamp: The metric.
        labels: The labels that it has and the snapshot has not.
    """
    return f"streamops_snapshot_timestamp_seconds - ignoring ({', '.join(labels)}) group_right () {timestamp}"
