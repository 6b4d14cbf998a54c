"""A plan in full, how far it is, and what became of it. Pure lines of cells, from the facts that the command line tells too."""

import re
from typing import Final

from streamops.errors import StreamopsError
from streamops.model.acting import Outcome, Plan
from streamops.model.wording import counted
from streamops.operations.registry import command_words
from streamops.resources.plans import outcome_facts, plan_facts
from streamops.resources.table import Cell, Fact, Tone
from streamops.resources.text import safe
from streamops.resources.units import duration, percent, rate
from streamops.tui.lines.details import fact_lines, paragraph
from streamops.tui.polling.app_state import RunningOperation
from streamops.tui.widgets.paint import BLANK_LINE, Line

OPTION: Final = re.compile(r"(?<![\w-])--(?=[a-z])")
SAID_ABOVE: Final = "plan"
ORDER: Final = (
    "count",
    "selection",
    "impact",
    "warning",
    "loses",
    "held back by",
    "effect",
    "undo",
    "sample",
    "command",
)
"""What has to be read before one agrees comes first: a small screen shows no more."""


def plan_lines(plan: Plan, width: int, before: Plan | None = None, chosen: str = "") -> list[Line]:
    """Everything a plan holds.

    Args:
        plan: The plan.
        width: Cells there are.
        before: The plan that was shown before it was counted again; none for the first.
        chosen: How many of the rows of a list it is about, in words; empty if no list was chosen from.
    """
    facts = {fact.name: fact for fact in plan_facts(plan)}
    if chosen:
        facts["selection"] = Fact("selection", (Cell(chosen),))
    lines = paragraph(safe(f"{command_words(plan.operation)} {plan.target}"), width, Tone.STRONG)
    lines += _changed(plan, before, width)
    if not plan.count:
        lines += paragraph("▲ There is nothing to do.", width, Tone.WARN, hang=2)
    in_order = [*(facts[name] for name in ORDER if name in facts)]
    others = [fact for name, fact in facts.items() if name not in ORDER and name != SAID_ABOVE]
    return [*lines, BLANK_LINE, *fact_lines([*in_order, *others], width)]


def outcome_lines(outcome: Outcome, width: int) -> list[Line]:
    """What was done, what was not, and how it is found again."""
    return fact_lines(outcome_facts(outcome), width)


def error_lines(error: StreamopsError, width: int) -> list[Line]:
    """What went wrong, and what to do about it; options are called as the rows of the form are."""
    lines = paragraph(f"✗ {_without_dashes(safe(error.message))}", width, Tone.CRITICAL, hang=2)
    if error.hint:
        lines += paragraph(f"→ {_without_dashes(safe(error.hint))}", width, Tone.OK, indent=3, hang=2)
    return [*lines, BLANK_LINE]


def _without_dashes(text: str) -> str:
    """A sentence with its options as words; commands, in backticks, as they are."""
    parts = text.split("`")
    return "`".join(OPTION.sub("", part) if at % 2 == 0 else part for at, part in enumerate(parts))


def _changed(plan: Plan, before: Plan | None, width: int) -> list[Line]:
    """Whether the server's state moved between two countings."""
    if before is None or before.fingerprint == plan.fingerprint:
        return []
    then = "" if before.count == plan.count else f": it was {counted(before.count, *before.unit)}"
    return paragraph(f"‖ changed since it was last counted{then}", width, Tone.WARN, hang=2)


MOST: Final = 60
FULL, EMPTY = "█", "░"


def progress_lines(deed: RunningOperation, width: int) -> list[Line]:
    """A bar, how much is done, how fast, and how long it will take."""
    plan, progress = deed.plan, deed.progress
    done = 0 if progress is None else progress.done
    share = min(done / plan.count, 1.0) if plan.count else 1.0
    room = max(min(width - 10, MOST), 1)
    bar = (FULL * int(share * room)).ljust(room, EMPTY)
    lines: list[Line] = [
        *paragraph(safe(deed.name), width, Tone.STRONG),
        BLANK_LINE,
        (Cell(f" {bar} ", Tone.OK), Cell(percent(share).rjust(6), Tone.STRONG)),
        (Cell(f" {done:,} of {counted(plan.count, *plan.unit)}{_pace(deed)}"),),
        BLANK_LINE,
    ]
    if deed.stopping:
        lines += paragraph("‖ stopping after the current batch", width, Tone.WARN)
    if deed.job:
        lines += paragraph(
            f"Job {safe(deed.job)}: any console shows it, and can stop it, under :jobs",
            width,
            Tone.DIM,
        )
    return lines


def _pace(deed: RunningOperation) -> str:
    progress = deed.progress
    if progress is None or progress.rate is None:
        return ""
    left = "" if progress.remaining is None else f" · about {duration(progress.remaining)} left"
    return f" · {rate(progress.rate)}{left}"
