"""Help: the keys that work here; then the row under the cursor, its findings, the fix, its numbers, and every key."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.widget import Widget

from streamops.model.observation import Finding, GroupView, StreamView
from streamops.resources.actions import KEYS, HelpTopic, shown_keys
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.keys import Hint, Pairs, bindings, first_key, hint_names, hint_pairs
from streamops.tui.lines.details import gap_text, heading, paragraph, title_lines
from streamops.tui.lines.explaining import finding_help, lag_help
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route, command
from streamops.tui.screens.frame import Frame
from streamops.tui.widgets.paint import BLANK_LINE, Line, fit, padded
from streamops.tui.widgets.text_view import TextView

KEY_WIDTH: Final = 18
TWO_COLUMNS: Final = 76
"""Cells from which on the keys stand in two columns."""
TELL_SERVER: Final = (routes.StatusRoute, routes.OverviewRoute)
"""Places that show what was found about the server; elsewhere it would seem to be about the row."""
MOST_ABOUT: Final = 16
"""Lines of what a row tells, which stands on the screen below in full: a payload must not hide what explains it."""


class HelpScreen(Frame):
    """The keys of a screen on one page; on another the row under its cursor explained.

    Args:
        frame: The screen on which help was asked for.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(open="app.help")

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame.place, frame.app_state)
        self._about = frame.explain()
        self._numbers = frame.numbers()
        self._focus = frame.focus_place()
        self._subject = frame.selection()
        self._tells_server = isinstance(frame.place, TELL_SERVER)
        self._here = (*frame.verb_hints(), *frame.hints())
        bound = {active.binding.id for active in frame.active_bindings.values() if active.enabled}
        self._active = {name for name in bound if name and not frame.console.why_not(name)}
        self._view = TextView(self._build, id="main")

    def hints(self) -> tuple[Hint, ...]:
        """Where the other page is."""
        explained = "explain the row" if self._row(self.size.width) else "every key, and the command"
        other = "keys" if self.explains_row else explained
        return (("open", other), ("up down", "scroll"), "back")

    def turn(self) -> None:
        """Show the other page."""
        self.explains_row = not self.explains_row
        self._view.show(self._build)
        self._view.scroll_home(animate=False)
        self.show_bars()

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield self._view

    def selection_words(self) -> Line:
        """That this is help."""
        return (Cell("help ", Tone.OK),)

    def _build(self, width: int) -> list[Line]:
        if not self.explains_row:
            return self._key_page(width)
        return [*self._row(width), *self._command(width), BLANK_LINE, *self._every_key()]

    # -- the keys ------------------------------------------------------------------------------------

    def _key_page(self, width: int) -> list[Line]:
        """The keys that work on the screen below, those of its row first, in two columns where there is room."""
        keymap = self.app_state.keymap
        told = {name for hint in self._here for name in hint_names(hint)}
        sections = [(self._row_name() or "Here", hint_pairs(self._here, keymap))]
        for topic in HelpTopic:
            left = [name for name in _names(topic) if name in self._active and name not in told]
            sections.append((topic, tuple(dict.fromkeys(hint_pairs(left, keymap)))))
        lines = [line for title, pairs in sections if pairs for line in _section(title, pairs)]
        if width < TWO_COLUMNS:
            return lines
        half, column = -(-len(lines) // 2), width // 2
        return [
            (*padded(left, column), *right)
            for left, right in zip_longest(lines[:half], lines[half:], fillvalue=())
        ]

    def _row_name(self) -> str:
        stream, group = focused(self.app_state, self._focus)
        names = [stream.stream.name] if stream is not None else []
        return " ▸ ".join(safe(name) for name in (names if group is None else [*names, group.group.name]))

    def _every_key(self) -> list[Line]:
        """What each key does in a sentence."""
        keymap = self.app_state.keymap
        own = [(shown_keys(name, keymap), f"{name}, in place of {shown_keys(name, {})}") for name in keymap]
        lines = [heading("Your own keys"), *key_lines(own), BLANK_LINE] if own else []
        for topic in HelpTopic:
            if topic is HelpTopic.ACT and self.app_state.read_only:
                continue
            pairs = [(first_key(name, keymap), KEYS[name].help) for name in _names(topic, plans=True)]
            lines += [heading(topic), *key_lines(pairs), BLANK_LINE]
        return lines

    # -- the row -------------------------------------------------------------------------------------

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
        if isinstance(self._focus, routes.EntryRoute | routes.TraceRoute):
            groups = () if stream is None else stream.groups
            about_it = self._focus.id
            findings = [one for view in groups for one in view.findings if one.entry == about_it]
        lines += self._explained(findings, width)
        if group is not None:
            lines += lag_help(group, width)
        numbers = list(self._numbers(width))
        lines += [heading("Its columns"), *numbers, BLANK_LINE] if numbers else []
        return [*lines, *self._server(width)]

    def _explained(self, findings: Sequence[Finding], width: int) -> list[Line]:
        return finding_help(findings, self._subject, width, read_only=self.app_state.read_only)

    def _server(self, width: int) -> list[Line]:
        """What was found about the server, and what could not be read of it."""
        observation = self.app_state.observation if self._tells_server else None
        if observation is None or not (observation.findings or observation.snapshot.gaps):
            return []
        lines = [heading("Server"), *self._explained(observation.findings, width)]
        for gap in observation.snapshot.gaps:
            lines += paragraph(gap_text(gap), width, Tone.UNKNOWN)
        return [*lines, BLANK_LINE] if observation.snapshot.gaps else lines

    def _command(self, width: int) -> list[Line]:
        line = command(self.app_state.context, self.place)
        return [
            heading("The same as a command"),
            *paragraph(safe(line), width, Tone.PLAIN, indent=3),
        ]


def focused(app_state: AppState, place: Route) -> tuple[StreamView | None, GroupView | None]:
    """The stream and the group that a place is about, as they were observed; None if it is about none."""
    name, group = getattr(place, "stream", None), getattr(place, "group", None)
    stream = app_state.find_stream(name or "")
    if stream is None or isinstance(place, routes.EntryRoute):
        return stream, None
    return stream, next((view for view in stream.groups if view.group.name == group), None)


def key_lines(pairs: Iterable[tuple[str, str]]) -> list[Line]:
    """Keys and what they do."""
    return [(Cell(f" {fit(key, KEY_WIDTH)} ", Tone.OK), Cell(words)) for key, words in pairs]


def _names(topic: HelpTopic, *, plans: bool = False) -> list[str]:
    return [
        name for name, row in KEYS.items() if row.topic is topic and (plans or not name.startswith("plan."))
    ]


def _section(title: str, pairs: Pairs) -> list[Line]:
    return [heading(title), *((Cell(f" {key}", Tone.OK), Cell(f"  {word}")) for key, word in pairs)]
