"""What help says of the row under the cursor: its findings, its lag, and what mends it with which key. Pure lines."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from streamops.model.observation import Finding, FindingCode, GroupView
from streamops.monitor.rules import RULE_OF, Remedy
from streamops.operations.registry import command_words
from streamops.resources.findings import FILE, section
from streamops.resources.groups import BASES, TIME_LAG
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import lag_text
from streamops.tui.lines.details import finding_mark, paragraph
from streamops.tui.rows.selection import VERBS, Selection, SelectionKind, fitting
from streamops.tui.widgets.paint import BLANK_LINE, Line

INDENT: Final = 3
KEY_WIDTH: Final = 3
WHERE: Final = {
    SelectionKind.PENDING: "on its pending entries, l",
    SelectionKind.DEAD_LETTER: "on its dead letters, 4",
    SelectionKind.DEAD_LETTERS: "on the queue, 4",
    SelectionKind.ENTRY: "on its entries, t",
    SelectionKind.CONSUMER: "on the consumer, Enter",
    SelectionKind.GROUP: "on the group",
    SelectionKind.STREAM: "on the stream",
}
"""Where one finds a subject of a sort, the nearest first."""


def finding_help(
    findings: Sequence[Finding], selection: Selection | None, width: int, *, read_only: bool
) -> list[Line]:
    """Each finding explained: what it means, how it comes about, what to look at, and what mends it.

    Args:
        findings: What was found about the row under the cursor.
        selection: What a key would act on there.
        width: Cells there are.
        read_only: Whether nothing may be changed: then no key is told that would.
    """
    lines: list[Line] = []
    for finding in findings:
        rule = RULE_OF[finding.code]
        mark = finding_mark(finding)
        lines.append((Cell(f" {mark.text}", mark.tone),))
        lines += paragraph(f"{safe(finding.text)}.".replace("..", "."), width, Tone.STRONG, indent=INDENT)
        if finding.advice:
            lines += paragraph(f"→ {safe(finding.advice)}", width, Tone.OK, indent=INDENT, hang=2)
        lines.append(BLANK_LINE)
        lines += _part("What it means", (rule.means,), width)
        lines += _part("Look at", rule.look, width)
        lines.append((Cell("   Fix", Tone.STRONG),))
        for remedy in rule.fixes:
            lines += _remedy(remedy, selection, width, read_only=read_only)
        lines += _part("Cause", (rule.cause,), width)
        lines.append(BLANK_LINE)
    return lines


def lag_help(view: GroupView, width: int) -> list[Line]:
    """What the lag of a group rests on, and why it is not known if it is not."""
    lag, time_lag = view.group.lag, view.group.time_lag
    lines: list[Line] = [
        (Cell(" The lag here", Tone.STRONG), Cell("  "), lag_text(lag), Cell(f"  {lag.basis}", Tone.DIM))
    ]
    lines += paragraph(BASES[lag.basis], width, Tone.PLAIN, indent=INDENT)
    if lag.reason:
        lines += paragraph(f"Now: {safe(lag.reason)}.", width, Tone.DIM, indent=INDENT)
    if not lag.known and lag.lower is not None and lag.upper is not None:
        lines += paragraph(
            f"It is between {lag.lower:,} and {lag.upper:,}.", width, Tone.UNKNOWN, indent=INDENT
        )
    if time_lag.reason:
        lines += paragraph(TIME_LAG, width, Tone.PLAIN, indent=INDENT)
        lines += paragraph(f"Now: {safe(time_lag.reason)}.", width, Tone.DIM, indent=INDENT)
    return [*lines, BLANK_LINE]


def _part(heading: str, texts: Sequence[str], width: int) -> list[Line]:
    lines: list[Line] = [(Cell(f"   {heading}", Tone.STRONG),)]
    for text in texts:
        dash = "· " if len(texts) > 1 else ""
        lines += paragraph(f"{dash}{text}", width, Tone.PLAIN, indent=INDENT + 2, hang=len(dash))
    return lines


def _remedy(remedy: Remedy, selection: Selection | None, width: int, *, read_only: bool) -> list[Line]:
    key, where = _key(remedy.operation, selection)
    if not remedy.operation:
        return paragraph(f"· {remedy.words}", width, Tone.PLAIN, indent=INDENT + 2, hang=2)
    command = command_words(remedy.operation)
    if read_only or not key:
        return paragraph(
            f"· streamops {command}: {remedy.words}", width, Tone.PLAIN, indent=INDENT + 2, hang=2
        )
    name = f"{key.ljust(KEY_WIDTH)}{command}{f' ({where})' if where else ''}: "
    return paragraph(f"{name}{remedy.words}", width, Tone.OK, indent=INDENT + 2, hang=KEY_WIDTH)


def _key(operation: str, selection: Selection | None) -> tuple[str, str]:
    """The key of an operation, and where it works; empty if it has none, or works right here."""
    here = next((verb.key for verb in fitting(selection) if verb.operation == operation), "")
    if here:
        return here, ""
    for sort, where in WHERE.items():
        for verb in VERBS:
            if verb.operation == operation and sort in verb.sorts:
                return verb.key, where
    return "", ""


@cache
def runbook(code: FindingCode) -> str:
    """What to do about a finding, as Markdown; empty if the runbooks are not installed."""
    return section(_text(), code.value)


@cache
def _text() -> str:
    for place in (files("streamops") / FILE, Path(__file__).parents[3] / FILE):
        try:
            return place.read_text("utf-8")
        except OSError:
            continue
    return ""
