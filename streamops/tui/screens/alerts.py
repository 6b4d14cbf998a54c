"""The findings that hold: since when, what they say, and what to do. Silenced ones stand below and are counted still."""

from datetime import datetime
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from streamops.present.alerts import AlertRow, counts_text, next_silence
from streamops.present.columns.alerts import ALERT_COLUMNS, clock_text
from streamops.present.runbooks import anchor, passages
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.present.units import health_text, timestamp
from streamops.tui import places
from streamops.tui.asking import ReadSilences, Say, Silenced
from streamops.tui.details import paragraph
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.runbooks import runbook
from streamops.tui.screens.firing import Firing
from streamops.tui.text_view import Builder

HERE: Final = "this machine, for you alone"


class AlertsScreen(Firing):
    """Findings, the worst first; the pane tells the runbook of the one under the cursor."""

    CSS = """
    AlertsScreen.-wide #pane, AlertsScreen.-roomy #pane { width: 40%; max-width: 64; }
    AlertsScreen.-narrow #body { layout: vertical; }
    AlertsScreen.-narrow #pane { display: block; width: 1fr; height: 1fr; }
    AlertsScreen.-narrow Divider { display: block; width: 1fr; height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("m", "silence", "silence", show=False, id="silence")]
    HINTS = (
        ("enter", "go there"),
        ("m", "silence"),
        ("g", "charts"),
        ("/", "filter"),
        ("f", "not silenced"),
        ("esc", "back"),
    )

    def __init__(self, place: places.Alerts, moment: Moment) -> None:
        super().__init__(place, moment, ALERT_COLUMNS)

    def on_mount(self) -> None:
        """Look what is silenced elsewhere."""
        self.post_message(ReadSilences())

    def detail(self, row: AlertRow) -> Builder:
        """The finding and its runbook."""
        return lambda width: alert_lines(row, self.moment.silences_at, width)

    def selection_words(self) -> Line:
        """How many there are, and how many of them are silenced."""
        counted = Cell(f"{counts_text(self.moment.alerts)}  ", Tone.DIM) if self.moment.alerts else Cell("")
        return (counted, *super().selection_words())

    def action_silence(self) -> None:
        """Silence the finding under the cursor: for an hour, four, a day, and no longer."""
        row, observation = self.list.highlighted, self.moment.observation
        if row is None or observation is None:
            return
        # From now on the cursor goes where its row goes: the next press is for the same finding.
        self.list.move_to(self.list.cursor)
        now = observation.snapshot.collected_at
        until = next_silence(row.silenced_until, now)
        self.post_message(Silenced(row.key, until))
        self.post_message(Say(_silence_words(row, until, self.moment.silences_at)))


def alert_lines(row: AlertRow, silences_at: str, width: int) -> list[Line]:
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
    if row.silenced_until is not None:
        kept = f"kept on {HERE}: {safe(silences_at)}" if silences_at else "or until this console is closed"
        lines += paragraph(f"‖ silenced until {timestamp(row.silenced_until)}; {kept}", width, Tone.DIM)
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
        return f"held already at {timestamp(row.since)}, when this console began to look"
    return f"first seen {timestamp(row.since)}"


def _silence_words(row: AlertRow, until: datetime | None, silences_at: str) -> str:
    name = row.finding.code.replace("_", " ")
    if until is None:
        return f"{name} is no longer silenced"
    kept = f"on {HERE}" if silences_at else "until this console is closed"
    return f"{name} is silenced until {clock_text(until)}Z, {kept}; s again for longer"
