"""A plan told in full, and what became of it. Pure lines of cells, from the facts that the command line tells too."""

import re
from collections.abc import Iterable
from typing import Final

from streamops.errors import StreamopsError
from streamops.model.acting import Outcome, Plan
from streamops.model.wording import counted
from streamops.resources.plans import Fact, outcome_facts, plan_facts
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui.lines.details import paragraph
from streamops.tui.widgets.paint import BLANK_LINE, Line, wrap

LABEL: Final = 14
OPTION: Final = re.compile(r"(?<![\w-])--(?=[a-z])")
GLYPHS: Final = {Tone.WARN: "▲ ", Tone.CRITICAL: "✗ ", Tone.OK: "✓ "}
MARKS: Final = tuple("▲✗✓▸‖?")
SAID_ABOVE: Final = "plan"
DANGER: Final = "danger"
ORDER: Final = (
    "count",
    "selection",
    "danger",
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
    lines = paragraph(safe(f"{plan.operation} {plan.target}"), width, Tone.STRONG)
    lines += _changed(plan, before, width)
    if not plan.count:
        lines += paragraph("▲ Nothing is selected: there is nothing to do.", width, Tone.WARN, hang=2)
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


def fact_lines(facts: Iterable[Fact], width: int) -> list[Line]:
    """Facts under each other, their names beside them; what matters has a glyph too."""
    lines: list[Line] = []
    for fact in facts:
        for number, cell in enumerate(fact.lines):
            lines += _said(fact.name if number == 0 else "", cell, width)
    return lines


def _said(name: str, cell: Cell, width: int) -> list[Line]:
    glyph = GLYPHS.get(cell.tone, GLYPHS[Tone.OK] if name == DANGER else "")
    if cell.text.startswith(MARKS):
        glyph = ""
    pieces = wrap(glyph + safe(cell.text), max(width - LABEL - 2, LABEL))
    return [
        (Cell(f" {(name if number == 0 else '').ljust(LABEL)}", Tone.DIM), Cell(piece, cell.tone))
        for number, piece in enumerate(pieces)
    ]


def _changed(plan: Plan, before: Plan | None, width: int) -> list[Line]:
    """Whether the server's state moved between two countings."""
    if before is None or before.fingerprint == plan.fingerprint:
        return []
    then = "" if before.count == plan.count else f": it was {counted(before.count, *before.unit)}"
    return paragraph(f"‖ changed since it was counted before{then}", width, Tone.WARN, hang=2)
