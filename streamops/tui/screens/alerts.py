"""The findings that hold: since when, what they are about, and what mends them."""

from collections.abc import Sequence

from streamops.model.wording import counted
from streamops.resources.findings import ALERT_COLUMNS, AlertRow, anchor, passages
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import health_text, timestamp
from streamops.tui import routes
from streamops.tui.lines.details import paragraph
from streamops.tui.lines.explaining import runbook
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.listing import ListScreen
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import Builder


class Firing(ListScreen[AlertRow]):
    """Findings, the worst first; Enter leads to what they are about."""

    def rows_of(self, app_state: AppState) -> Sequence[AlertRow]:
        """What holds now."""
        return app_state.alerts

    def identify(self, row: AlertRow) -> tuple[object, ...]:
        """What it is about, and which of several."""
        return (*row.key, row.number)

    def text_of(self, row: AlertRow) -> str:
        """Everything one may look for."""
        words = (row.finding.level.word, row.finding.code, row.stream or "server", row.group or "")
        return " ".join((*words, row.finding.text))

    def is_fault(self, row: AlertRow) -> bool:
        """Always: whatever is found is one."""
        del row
        return True

    def place_of(self, row: AlertRow) -> Route | None:
        """The group, or the stream."""
        if row.stream is None:
            return None
        return (
            routes.StreamRoute(row.stream) if row.group is None else routes.GroupRoute(row.stream, row.group)
        )

    def name_of(self, row: AlertRow) -> str | None:
        """The group's name, or the stream's."""
        return row.group or row.stream

    def empty_note(self) -> str:
        """Why there are none."""
        if self.app_state.past is None:
            return "not read yet"
        return "no findings: no health rule reports a problem"


class AlertsScreen(Firing):
    """Findings, the worst first; the pane tells the runbook of the one under the cursor."""

    CSS = """
    AlertsScreen.-wide #pane, AlertsScreen.-roomy #pane { width: 40%; max-width: 64; }
    AlertsScreen.-narrow #body { layout: vertical; }
    AlertsScreen.-narrow #pane { display: block; width: 1fr; height: 1fr; }
    AlertsScreen.-narrow Divider { display: block; width: 1fr; height: 1; }
    """
    HINTS = (
        ("open", "go there"),
        "charts",
        "filter",
        "back",
    )

    def __init__(self, place: routes.AlertsRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, ALERT_COLUMNS)

    def detail(self, row: AlertRow) -> Builder:
        """The finding and its runbook."""
        return lambda width: alert_lines(row, width)

    def selection_words(self) -> Line:
        """How many there are."""
        if not self.app_state.alerts:
            return super().selection_words()
        words = counted(len(self.app_state.alerts), "finding", "findings")
        return (Cell(f"{words}  ", Tone.DIM), *super().selection_words())


def alert_lines(row: AlertRow, width: int) -> list[Line]:
    """A finding in full: what, where, since when, and what its runbook says."""
    shown = health_text(row.finding.level)
    where = " ▸ ".join(safe(name) for name in (row.stream, row.group) if name is not None) or "the server"
    lines: list[Line] = [
        *paragraph(where, width, Tone.STRONG),
        (Cell(f" {shown.text[0]} {row.finding.code.replace('_', ' ')}", shown.tone),),
        *paragraph(safe(row.finding.text), width, Tone.PLAIN, indent=3),
    ]
    if row.finding.advice:
        lines += paragraph(f"→ {safe(row.finding.advice)}", width, Tone.OK, indent=3, hang=2)
    lines += [BLANK_LINE, *paragraph(_since_words(row), width, Tone.DIM)]
    return [*lines, BLANK_LINE, *runbook_lines(row, width)]


def runbook_lines(row: AlertRow, width: int) -> list[Line]:
    """What the runbook says, with the names of the stream and the group in its commands."""
    text = runbook(row.finding.code)
    where = anchor(row.finding.code)
    if not text:
        return paragraph(f"The runbook is not installed: see {where}", width, Tone.DIM)
    lines: list[Line] = [(Cell(" Runbook", Tone.STRONG),)]
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
        return f"already so at {timestamp(row.since)}, when this console started"
    return f"first seen {timestamp(row.since)}"
