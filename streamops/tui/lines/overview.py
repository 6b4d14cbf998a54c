"""What the overview says: health, rates, what waits, dead letters, delayed messages, workers, memory."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from streamops.model.entries import id_age
from streamops.model.observation import Finding, Health, Observation
from streamops.model.streams import ServerInfo, ServerNode, StreamRole, StreamState
from streamops.model.wording import counted
from streamops.resources.charts.chart import chart_lines
from streamops.resources.charts.scale import Point
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import UNKNOWN, compact, duration, greatest, health_text, percent, size, spark
from streamops.resources.workers import STATES, unreadable_words
from streamops.tui.history.memory import (
    ALL_ACKED,
    ALL_ADDED,
    ALL_DEAD_LETTERS,
    ALL_DELIVERED,
    TIERS,
    MetricsHistory,
    Track,
)
from streamops.tui.history.rows import Totals
from streamops.tui.lines.charting import SPANS, field_columns, total_count, total_rate, whole_chart, window
from streamops.tui.lines.details import finding_mark
from streamops.tui.polling.app_state import AppState
from streamops.tui.widgets.paint import BLANK_LINE, Line, cell_width

if TYPE_CHECKING:  # The engine comes along with those; who only looks does not need it.
    from streamops.monitor.delayed import DelayedQueues
    from streamops.monitor.pools import ServerWorkers


class OverviewReads(Struct, frozen=True):
    """What was read last; why not, safe to show, if it was not; empty while it is being read.

    Attributes:
        workers: Workers and pools.
        delayed: Queues of delayed messages.
    """

    workers: "ServerWorkers | str" = ""
    delayed: "DelayedQueues | str" = ""


TIER: Final = TIERS[1]
STEPS: Final = 30
"""Five minutes, ten seconds each."""
THOUSANDTHS: Final = 1000
RATE_WIDTH: Final = 9


def rate_facts(past: MetricsHistory, totals: Totals, until: float, *, wordy: bool) -> list[tuple[str, Line]]:
    """Entries added, delivered and acknowledged a second, each with its last five minutes.

    Args:
        past: What is remembered.
        totals: What is so now.
        until: Up to when.
        wordy: Whether to say of how many streams and groups.
    """
    groups = (totals.groups, totals.untold_rates)
    added = total_rate(totals.added, totals.streams, totals.untold_added)
    to_streams = ", " + counted(totals.streams, "stream", "streams") if wordy else ""
    of_groups = ", " + counted(totals.groups, "group", "groups") if wordy else ""
    rates: list[tuple[str, Track, str, str]] = [
        ("Added", ALL_ADDED, added, to_streams),
        ("Delivered", ALL_DELIVERED, total_rate(totals.delivered, *groups), of_groups),
        ("Acked", ALL_ACKED, total_rate(totals.acked, *groups), of_groups),
    ]
    steps = [steps_of(past.whole(track, TIER, until), until) for _, track, *_ in rates]
    # One scale for the three, so that they can be compared; less than one entry a second is a low bar.
    top = max(THOUSANDTHS, *map(greatest, steps))
    return [
        (
            label,
            (
                Cell(f"{now:<{RATE_WIDTH}}"),
                Cell(f" {spark(line, STEPS, top)}", Tone.OK),
                Cell(f" 5 min{parts}", Tone.DIM),
            ),
        )
        for (label, _, now, parts), line in zip(rates, steps, strict=True)
    ]


def steps_of(points: Sequence[Point], until: float) -> list[int | None]:
    """The readings of the last five minutes, one a step, in thousandths; None if nothing was known."""
    last = int(until // TIER.spacing)
    by_step = {
        int(point.at // TIER.spacing): round(point.value * THOUSANDTHS)
        for point in points
        if point.value is not None
    }
    return [by_step.get(step) for step in range(last - STEPS + 1, last + 1)]


READING: Final = Cell("reading", Tone.UNKNOWN)
DOT: Final = Cell(" · ", Tone.DIM)
ORDER: Final = (Health.CRITICAL, Health.WARN, Health.UNKNOWN, Health.OK)
GROWTH: Final = 300.0
FULL, NEARLY_FULL = 0.9, 0.7


def health_facts(tally: Mapping[Health, int], findings: Sequence[Finding] = ()) -> Line:
    """How many groups are in each health, and what was found that no group has; a stream without groups counts for itself."""
    cells: list[Cell] = []
    for health in ORDER:
        if number := tally.get(health, 0):
            shown = health_text(health)
            cells.append(Cell(f"{shown.text} {compact(number)}  ", shown.tone))
    if not cells:
        cells.append(Cell("no streams  ", Tone.DIM))
    else:
        cells.append(Cell(f"of {sum(tally.values()):,} groups and streams", Tone.DIM))
    for finding in findings:
        cells += [DOT, finding_mark(finding)]
    return tuple(cells)


def waiting_facts(totals: Totals) -> Line:
    """Entries that wait for groups, and those that are with consumers."""
    cells = [
        Cell(total_count(totals.waiting, totals.untold_lags), _bound_tone(totals.untold_lags)),
        Cell(" not delivered", Tone.DIM),
    ]
    if totals.untold_lags:
        cells.append(Cell(f" ({counted(totals.untold_lags, 'lag', 'lags')} unknown)", Tone.UNKNOWN))
    return (*cells, DOT, Cell(compact(totals.pending)), Cell(" pending", Tone.DIM))


def dead_letter_facts(observation: Observation, totals: Totals, past: MetricsHistory) -> Line:
    """How many dead letters there are, how many more than minutes ago, and where the newest is."""
    now = observation.snapshot.collected_at
    if not totals.letters:
        return (Cell("none", Tone.DIM),)
    queues = counted(totals.queues, "queue", "queues")
    cells = [
        Cell(f"{totals.letters:,}", Tone.WARN),
        Cell(f" in {queues}", Tone.DIM),
    ]
    if grown := _growth(past, totals.letters, now.timestamp()):
        cells += [DOT, grown]
    newest = _newest(observation, now)
    return (*cells, DOT, newest) if newest is not None else tuple(cells)


def delayed_facts(beside: OverviewReads) -> Line:
    """How many messages wait for their time, and how many of them are due."""
    found = beside.delayed
    if isinstance(found, str):
        return _unread(found)
    messages, due = (sum(getattr(queue, name) for queue in found.queues) for name in ("messages", "due"))
    cells = [Cell(f"{messages:,}", Tone.PLAIN if messages else Tone.DIM)]
    if found.queues:
        cells.append(Cell(f" in {counted(len(found.queues), 'queue', 'queues')}", Tone.DIM))
        cells += [DOT, Cell(f"{due:,} due", Tone.WARN if due else Tone.DIM)]
        cells += _next_due([queue.next_due_at for queue in found.queues], found.now)
    if found.gaps:
        cells += [DOT, Cell(f"{len(found.gaps)} not readable", Tone.UNKNOWN)]
    if not found.complete:
        cells += [DOT, Cell("perhaps more", Tone.UNKNOWN)]
    return tuple(cells)


def worker_facts(beside: OverviewReads) -> Line:
    """How many workers are in each state, and how busy they are."""
    crowd = beside.workers
    if isinstance(crowd, str):
        return _unread(crowd)
    unread = (Cell(f"  {unreadable_words(crowd.unreadable)}", Tone.WARN),) if crowd.unreadable else ()
    if not crowd.workers:
        return unread or (Cell("no streamops workers here", Tone.DIM),)
    states = Counter(heart.state for heart in crowd.workers)
    cells = [
        Cell(f"{shown.text} {states[state]}  ", shown.tone)
        for state, shown in STATES.items()
        if states[state]
    ]
    busy, slots = sum(heart.busy for heart in crowd.workers), sum(heart.slots for heart in crowd.workers)
    return (*cells, Cell(f"{busy:,} of {slots:,} slots busy", Tone.DIM), *unread)


def memory_facts(server: ServerInfo) -> Line:
    """What the servers use of what they may, and what happens when it is full."""
    nodes = server.nodes
    if not nodes:
        return (Cell(UNKNOWN, Tone.UNKNOWN),)
    fullest = max(nodes, key=lambda node: _share(node) or 0.0)
    many = (Cell(f"{len(nodes)} servers, the fullest ", Tone.DIM),) if len(nodes) > 1 else ()
    policies = sorted({node.maxmemory_policy for node in nodes if node.maxmemory_policy})
    evicted = [node.evicted_keys for node in nodes if node.evicted_keys]
    return (
        *many,
        *_use(fullest),
        DOT,
        Cell(safe(", ".join(policies)) or "policy unknown", Tone.PLAIN if policies else Tone.UNKNOWN),
        *((DOT, Cell(f"{sum(evicted):,} keys evicted", Tone.WARN)) if evicted else ()),
    )


def missing_facts(observation: Observation) -> list[tuple[str, Line]]:
    """What the page does not know; nothing if it knows all."""
    snapshot = observation.snapshot
    parts: list[str] = []
    if snapshot.gaps:
        parts.append(f"{counted(len(snapshot.gaps), 'part', 'parts')} could not be read")
    if not snapshot.discovery_complete:
        parts.append("still scanning for streams")
    if (left := snapshot.discovered - len(snapshot.streams)) > 0:
        parts.append(f"{counted(left, 'stream', 'streams')} beyond the limit")
    return [("Missing", (Cell(" · ".join(parts), Tone.UNKNOWN),))] if parts else []


def _bound_tone(untold: int) -> Tone:
    return Tone.UNKNOWN if untold else Tone.PLAIN


def _growth(past: MetricsHistory, letters: int, until: float) -> Cell | None:
    points = [
        point
        for point in past.whole(ALL_DEAD_LETTERS, TIERS[0], until)
        if point.value is not None and point.at >= until - GROWTH
    ]
    if not points or points[0].at >= until:
        return None
    span = duration(timedelta(seconds=round(until - points[0].at)))
    grown = letters - int(points[0].value or 0)
    tone = Tone.WARN if grown > 0 else Tone.DIM
    return Cell(f"net {grown:+,} in {span}", tone)


def _newest(observation: Observation, now: datetime) -> Cell | None:
    queues: list[StreamState] = [
        view.stream
        for view in observation.streams
        if view.stream.role is StreamRole.DEAD_LETTERS and view.stream.length and view.stream.last_id
    ]
    if not queues:
        return None
    newest = max(queues, key=lambda state: state.last_id or (0, 0))
    age = None if newest.last_id is None else id_age(newest.last_id, now)
    when = "" if age is None else f" {duration(age)} ago"
    return Cell(f"newest{when}, {safe(newest.name)}", Tone.DIM)


def _next_due(instants: Sequence[datetime | None], now: datetime | None) -> list[Cell]:
    known = [instant for instant in instants if instant is not None]
    if not known or now is None:
        return []
    left = min(known) - now
    words = f"next in {duration(left)}" if left > timedelta(0) else f"the first {duration(-left)} overdue"
    return [DOT, Cell(words, Tone.DIM)]


def _unread(reason: str) -> Line:
    return (Cell(f"not readable: {reason}", Tone.UNKNOWN),) if reason else (READING,)


def _share(node: ServerNode) -> float | None:
    return node.used_memory / node.max_memory if node.used_memory is not None and node.max_memory else None


def _use(node: ServerNode) -> Line:
    used = size(node.used_memory)
    if node.max_memory is None:
        return (Cell(f"{used} of {UNKNOWN}", Tone.UNKNOWN),)
    share = _share(node)
    if share is None:
        return (Cell(used), Cell(", without a limit", Tone.DIM))
    tone = Tone.CRITICAL if share >= FULL else Tone.WARN if share >= NEARLY_FULL else Tone.PLAIN
    return (Cell(f"{used} of {size(node.max_memory)}, {percent(share)}", tone),)


LABEL_WIDTH: Final = 10
TWO_WIDE: Final = 120
FACTS_WIDTH: Final = 72


def page_lines(
    app_state: AppState, totals: Totals, beside: OverviewReads, width: int, height: int
) -> Sequence[Line]:
    """The lines of the page; what is not known is said to be not known.

    Args:
        app_state: What is known now.
        totals: The sums of its observation.
        beside: What was read besides.
        width: Columns there are.
        height: Lines there are.
    """
    observation, past = app_state.observation, app_state.past
    if observation is None or past is None:
        return [BLANK_LINE, (Cell(" not read yet", Tone.UNKNOWN),)]
    two = width >= TWO_WIDE
    until = observation.snapshot.collected_at.timestamp()
    facts: list[tuple[str, Line]] = [
        ("Health", health_facts(app_state.tally, observation.findings)),
        *rate_facts(past, totals, until, wordy=not two),
        ("Lag", waiting_facts(totals)),
        ("Dead", dead_letter_facts(observation, totals, past)),
        ("Delayed", delayed_facts(beside)),
        ("Workers", worker_facts(beside)),
        ("Memory", memory_facts(observation.snapshot.server)),
        *missing_facts(observation),
    ]
    lines: list[Line] = [(Cell(f" {label.ljust(LABEL_WIDTH)} ", Tone.DIM), *line) for label, line in facts]
    if not two:
        return lines
    room = width - FACTS_WIDTH
    shown = window(past, observation, SPANS[1])
    chart = chart_lines(whole_chart(past, totals, shown, field_columns(room)), room, height)
    return [
        _side_by_side(left or BLANK_LINE, right or BLANK_LINE) for left, right in zip_longest(lines, chart)
    ]


def _side_by_side(left: Line, right: Line) -> Line:
    used, kept = 0, []
    for cell in left:
        room = FACTS_WIDTH - 2 - used
        if room <= 0:
            break
        text = cell.text if cell_width(cell.text) <= room else f"{cell.text[: room - 1]}…"
        kept.append(Cell(text, cell.tone))
        used += cell_width(text)
    return (*kept, Cell(" " * (FACTS_WIDTH - used)), *right)
