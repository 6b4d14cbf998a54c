"""Help: the row under the cursor, what was found about it and what mends it, its numbers, and the keys."""

from collections.abc import Iterable, Sequence
from typing import Final

from textual.widget import Widget

from streamops.model.observation import Finding, GroupView, StreamView
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.tui import routes
from streamops.tui.app_state import AppState
from streamops.tui.details import paragraph, title_lines
from streamops.tui.explaining import finding_help, lag_help
from streamops.tui.own_keys import own_sections
from streamops.tui.routes import Route, command
from streamops.tui.screens.frame import Frame
from streamops.tui.selection import fitting
from streamops.tui.widgets.paint import BLANK_LINE, Line, fit
from streamops.tui.widgets.text_view import TextView

KEY_WIDTH: Final = 18
MOST_ABOUT: Final = 16
"""Lines of what a row tells, which stands on the screen below in full: a payload must not hide what explains it."""

Keys = tuple[tuple[str, str], ...]
MOVING: Final[Keys] = (
    ("↑ ↓ j k", "move by a row"),
    ("PgUp PgDn Home End", "move by a page, to the first, to the last"),
    ("Enter", "open: stream, group, consumer, pending entry, entry"),
    ("Esc", "go back; stop, or drop marks and filter first"),
    ("1 2 3", "overview; all streams; all groups"),
    ("4 5 6 7", "dead letters, again: jobs; workers, again: pools; alerts; audit log"),
    ("t", "tail the stream under the cursor; follow again"),
    ("l", "on a group: all its pending entries; on a pool: its group"),
    ("g", "charts of the group"),
    ("d", "dead letters of the stream under the cursor"),
    ("a", "what became of the entry under the cursor: its trace"),
    (":", "go to: stream [group [consumer]], stream ID, view NAME, ctx NAME, a word"),
    ("^p", "command palette"),
)
FINDING: Final[Keys] = (
    ("/", "filter: words, !word, lag>1000, idle>5m, health:crit, lag=? for unknown"),
    ("n b", "next and previous match"),
    ("f", "faults only"),
    ("o i", "sort by the next column; invert"),
    ("h", "columns: sort by any, show and hide"),
    ("w :save NAME", "saved views; save the list as it is arranged"),
    ("=", "on dead letters: those of which an expression holds, listed or not"),
    ("s", "search payloads of the stream: words, or where EXPRESSION; g goes on"),
)
LOOKING: Final[Keys] = (
    ("p", "freeze the screen, go on"),
    ("+ -", "refresh slower, faster: 1, 2, 5, 10, 30 s, off"),
    ("r", "read now"),
    ("y c", "copy the ID or name; the command that prints the same"),
    ("v", "on an entry: decoded or as it came"),
    ("?", "this"),
    ("q ^q", "quit, from the first screen; from anywhere"),
)
ACTING: Final[Keys] = (
    (
        "Space * ! u",
        "on entries: mark one, all shown (again: all there are), the others, none; plans take what is marked, else what a filter shows",
    ),
    ("C A N", "plan to claim; on pending entries: to acknowledge, to give back"),
    ("T D R E", "plan to trim; to delete; to replay dead letters, as they are or edited"),
    ("W X", "plan to rewind a group; to destroy it, or remove a consumer"),
    ("P S", "plan to pause a pool of workers or a topic, or go on; to scale a pool"),
    ("A O L", "on a pool: plan to pause its controller, or go on; to overrule it; to set other limits"),
    ("R D", "on delayed messages: plan to run them now, to cancel them"),
    ("z", "in the audit log and after an outcome: plan to undo it"),
)
SECTIONS: Final = (("Moving", MOVING), ("Finding", FINDING), ("Looking", LOOKING))


class HelpScreen(Frame):
    """Text about a row, then the keys.

    Args:
        frame: The screen on which help was asked for.
    """

    HINTS = (("↑↓", "scroll"), ("esc", "back"))

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame.place, frame.app_state)
        self._about = frame.explain()
        self._numbers = frame.numbers()
        self._focus = frame.focus_place()
        self._subject = frame.selection()
        self._here = frame.hints()
        self._view = TextView(self._build, id="main")

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield self._view

    def selection_words(self) -> Line:
        """That this is help."""
        return (Cell("help ", Tone.OK),)

    def _build(self, width: int) -> list[Line]:
        return [*self._row(width), *self._command(width), BLANK_LINE, *self._keys_here(), *self._every_key()]

    def _row(self, width: int) -> list[Line]:
        """The row in full, its findings explained, its lag, and every number of it."""
        stream, group = focused(self.app_state, self._focus)
        view = group or stream
        told = isinstance(self._focus, routes.StreamRoute | routes.GroupRoute | routes.PendingRoute)
        if told and view is not None:
            names = [stream.stream.name] if stream is not None else []
            names += [group.group.name] if group is not None else []
            lines = title_lines(names, view.health, width)
        else:
            about = list(self._about(width))
            more: list[Line] = [(Cell(" …", Tone.DIM),)] if len(about) > MOST_ABOUT else []
            lines = [*about[:MOST_ABOUT], *more, BLANK_LINE] if about else []
        findings = [*(group.findings if group else ()), *(stream.findings if stream else ())]
        lines += self._explained(findings, width)
        if group is not None:
            lines += lag_help(group, width)
        numbers = list(self._numbers(width))
        lines += [*heading("Its numbers"), *numbers, BLANK_LINE] if numbers else []
        return [*lines, *self._server(width)]

    def _explained(self, findings: Sequence[Finding], width: int) -> list[Line]:
        return finding_help(findings, self._subject, width, read_only=self.app_state.read_only)

    def _server(self, width: int) -> list[Line]:
        """What was found about the server, and what could not be read of it."""
        observation = self.app_state.observation
        if observation is None or not (observation.findings or observation.snapshot.gaps):
            return []
        lines = [*heading("Server"), *self._explained(observation.findings, width)]
        for gap in observation.snapshot.gaps:
            words = f"not readable: {safe(gap.scope)}: {safe(gap.reason)}"
            lines += paragraph(words, width, Tone.UNKNOWN)
        return [*lines, BLANK_LINE] if observation.snapshot.gaps else lines

    def _command(self, width: int) -> list[Line]:
        line = command(self.app_state.context, self.place)
        return [
            *heading("The same as a command"),
            *paragraph(safe(line), width, Tone.PLAIN, indent=3),
        ]

    def _keys_here(self) -> list[Line]:
        verbs = () if self.app_state.read_only else fitting(self._subject)
        plans = [(verb.key, f"plan to {verb.word}") for verb in verbs]
        here = (*self._here, *plans)
        return [*heading("Keys here"), *key_lines(here), BLANK_LINE] if here else []

    def _every_key(self) -> list[Line]:
        lines: list[Line] = []
        acting = () if self.app_state.read_only else (("Actions: each shows its plan first", ACTING),)
        for title, keys in (*own_sections(self.app_state.keymap), *SECTIONS, *acting):
            lines += [*heading(title), *key_lines(keys), BLANK_LINE]
        return lines


def focused(app_state: AppState, place: Route) -> tuple[StreamView | None, GroupView | None]:
    """The stream and the group that a place is about, as they were observed; none where it is about none."""
    name, group = getattr(place, "stream", None), getattr(place, "group", None)
    streams = () if app_state.observation is None else app_state.observation.streams
    stream = next((view for view in streams if view.stream.name == name), None)
    if stream is None or isinstance(place, routes.EntryRoute):
        return stream, None
    return stream, next((view for view in stream.groups if view.group.name == group), None)


def heading(text: str) -> list[Line]:
    """The title of a section."""
    return [(Cell(f" {text}", Tone.STRONG),)]


def key_lines(keys: Keys) -> list[Line]:
    """Keys and what they do."""
    return [(Cell(f" {fit(key, KEY_WIDTH)} ", Tone.OK), Cell(words)) for key, words in keys]
