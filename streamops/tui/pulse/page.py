"""The page as a whole: facts at the left, and at the right, where there is room, how the rates were."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from streamops.present.charts.chart import chart_lines
from streamops.present.table import Cell, Tone
from streamops.tui.charting import SPANS, field_columns, whole_chart, window
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line, cell_width
from streamops.tui.past.rows import Totals
from streamops.tui.pulse.beside import Beside
from streamops.tui.pulse.facts import (
    dead_letter_facts,
    delayed_facts,
    health_facts,
    memory_facts,
    missing_facts,
    waiting_facts,
    worker_facts,
)
from streamops.tui.pulse.rates import rate_facts

LABEL_WIDTH: Final = 10
TWO_WIDE: Final = 120
FACTS_WIDTH: Final = 72


def page_lines(moment: Moment, totals: Totals, beside: Beside, width: int, height: int) -> Sequence[Line]:
    """The lines of the page; what is not known is said to be not known.

    Args:
        moment: What is known now.
        totals: The sums of its observation.
        beside: What was read besides.
        width: Columns there are.
        height: Lines there are.
    """
    observation, past = moment.observation, moment.past
    if observation is None or past is None:
        return [BLANK_LINE, (Cell(" not read yet", Tone.UNKNOWN),)]
    two = width >= TWO_WIDE
    until = observation.snapshot.collected_at.timestamp()
    facts: list[tuple[str, Line]] = [
        ("Health", health_facts(moment.tally)),
        *rate_facts(past, totals, until, wordy=not two),
        ("Waiting", waiting_facts(totals)),
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
    return [_beside(left or BLANK_LINE, right or BLANK_LINE) for left, right in zip_longest(lines, chart)]


def _beside(left: Line, right: Line) -> Line:
    used, kept = 0, []
    for cell in left:
        room = FACTS_WIDTH - 2 - used
        if room <= 0:
            break
        text = cell.text if cell_width(cell.text) <= room else f"{cell.text[: room - 1]}…"
        kept.append(Cell(text, cell.tone))
        used += cell_width(text)
    return (*kept, Cell(" " * (FACTS_WIDTH - used)), *right)
