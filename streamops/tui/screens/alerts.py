"""The findings that hold: since when, what they are about, and what mends them."""

from collections.abc import Sequence
from typing import Final

from streamops.model.observation import FindingCode
from streamops.model.wording import counted
from streamops.resources.findings import ALERTS, AlertRow, anchor, passages
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import timestamp
from streamops.tui import routes
from streamops.tui.lines.details import finding_lines, heading, paragraph
from streamops.tui.lines.explaining import runbook
from streamops.tui.routes import Route
from streamops.tui.screens.listing import Listing
from streamops.tui.widgets.paint import BLANK_LINE, Line

OF_DELAYED: Final = frozenset({FindingCode.DELAYED_OVERDUE, FindingCode.DELAYED_FOREIGN})
"""Findings about the delayed messages of a stream that may not exist yet."""


def alert_lines(row: AlertRow, width: int) -> list[Line]:
    """A finding in full: what, where, since when, and what its runbook says."""
    where = " ▸ ".join(safe(name) for name in (row.stream, row.group) if name is not None) or "the server"
    return [
        *paragraph(where, width, Tone.STRONG),
        *finding_lines([row.finding], width),
        *paragraph(_since_words(row), width, Tone.DIM),
        BLANK_LINE,
        *runbook_lines(row, width),
    ]


def runbook_lines(row: AlertRow, width: int) -> list[Line]:
    """What the runbook says, with the names of the stream and the group in its commands."""
    text = runbook(row.finding.code)
    where = anchor(row.finding.code)
    if not text:
        return paragraph(f"The runbook is not installed: see {where}", width, Tone.DIM)
    lines: list[Line] = [heading("Runbook")]
    before = False
    for passage in passages(text, row.stream, row.group):
        if not (before and passage.command):
            lines.append(BLANK_LINE)
        if passage.command:
            lines += paragraph(f"$ {safe(passage.text)}", width, Tone.OK, indent=3, hang=2)
        else:
            lines += paragraph(safe(passage.text), width, Tone.PLAIN)
        before = passage.command
    return [*lines, BLANK_LINE, *paragraph(where, width, Tone.DIM)]


def _since_words(row: AlertRow) -> str:
    if row.from_start:
        return f"present at {timestamp(row.since)} already, when this console started"
    return f"first seen {timestamp(row.since)}"


def _place_of(row: AlertRow) -> Route | None:
    if row.stream is None:
        return None
    if row.finding.code in OF_DELAYED:
        return routes.DelayedRoute(row.stream)
    return routes.StreamRoute(row.stream) if row.group is None else routes.GroupRoute(row.stream, row.group)


def _summary(rows: Sequence[AlertRow]) -> Cell | None:
    return Cell(f"{counted(len(rows), 'finding', 'findings')}  ", Tone.DIM) if rows else None


ALERT_LIST: Final = Listing(
    resource=ALERTS,
    hints=(("open", "open"), "charts", "filter", "back"),
    rows=lambda app_state: app_state.alerts,
    empty=lambda app_state: (
        "not read yet" if app_state.past is None else "no findings: no health rule reports a problem"
    ),
    leads=_place_of,
    leads_nowhere="this finding is about the server: no stream or group to go to",
    detail=alert_lines,
    summary=_summary,
    wide_pane=True,
)
