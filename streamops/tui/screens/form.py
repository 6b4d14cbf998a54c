"""The form of an operation: its fields, filled in from where the cursor was. Enter makes a plan; nothing is done yet."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec import Struct
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.strip import Strip
from textual.suggester import SuggestFromList
from textual.widget import Widget
from textual.widgets import Input

from streamops.model.dead_letters import QueueSummary
from streamops.model.wording import first_few
from streamops.operations.operation import Operation
from streamops.operations.registry import command_words
from streamops.operations.replay.intent import ReplayMode
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import count
from streamops.tui.acting.offers import (
    consumers_for,
    form_note,
    mode_for,
    most_of,
    names_for,
    safe_to_trim,
    why_mode_is_needed,
)
from streamops.tui.acting.questions import NONE, Question, WrongAnswer, questions_for, read_form
from streamops.tui.keys import Hint
from streamops.tui.lines.details import paragraph
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.frame import ActingFrame
from streamops.tui.source import MakePlan
from streamops.tui.theme import Background
from streamops.tui.widgets.bars import Bar
from streamops.tui.widgets.paint import BLANK_LINE, Line, Painted, brush_of, cell_width, fit
from streamops.tui.widgets.text_view import TextView

LABEL: Final = 18
FRAME: Final = 3
"""Cells of a row that are neither label nor text."""
CHOOSE: Final = ("Space", "choose")
EMPTY: Final = ("^u", "empty")


class Pick(Painted, can_focus=True):
    """One of a few words, changed with Space and the arrows.

    Args:
        options: The words.
        value: Which one it is at first.
    """

    DEFAULT_CSS = """
    Pick { height: 1; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,right", "step(1)", "next", show=False),
        Binding("left", "step(-1)", "previous", show=False),
        Binding("enter", "submit", "plan", show=False),
    ]

    class Submitted(Message):
        """The form is filled in."""

    class Picked(Message):
        """Another word is chosen."""

    def __init__(self, options: tuple[str, ...], value: str) -> None:
        super().__init__()
        self._options = options
        self._called: Mapping[str, str] = {}
        self.value = value

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw it."""
        del y
        ground = Background.CURSOR if self.has_focus else Background.PAGE
        cells = [Cell(" ")]
        for option in self._options:
            chosen = option == self.value
            word = self._called.get(option, option)
            cells.append(Cell(f" {'●' if chosen else '○'} {word} ", Tone.STRONG if chosen else Tone.DIM))
        return brush_of(self).line(cells, width, ground)

    def on_focus(self) -> None:
        """Stand out."""
        self.refresh()

    def on_blur(self) -> None:
        """Step back."""
        self.refresh()

    def on_click(self) -> None:
        """A click takes the next word."""
        self.action_step(1)

    def choose(self, option: str) -> None:
        """Take one of the words."""
        self.value = option
        self.refresh()
        self.post_message(self.Picked())

    def call(self, option: str, word: str) -> None:
        """Call one of the words otherwise."""
        self._called = {**self._called, option: word}
        self.refresh()

    def action_step(self, step: int) -> None:
        """Take the next word, or the one before."""
        at = self._options.index(self.value)
        self.choose(self._options[(at + step) % len(self._options)])

    def action_submit(self) -> None:
        """Tell that the form is filled in."""
        self.post_message(self.Submitted())


class NameInput(Input):
    """What is typed, completed to names there are; consumers and reasons are chosen with Space too.

    Attributes:
        choices: What Space goes through: a consumer's name is seldom known by heart, and never begins with a blank.
        told: The same as help lists them, with what is known of each.
    """

    def __init__(self, question: Question, names: Sequence[str]) -> None:
        super().__init__(
            question.text,
            placeholder=question.hint,
            suggester=SuggestFromList(names, case_sensitive=True) if names else None,
            compact=True,
        )
        self.cursor_blink = False
        self.choices = tuple(names) if question.field.completes == "consumers" else ()
        self.told = self.choices

    def on_mount(self) -> None:
        """Show what is longer than its row from its beginning."""
        self.cursor_position = 0

    def on_blur(self) -> None:
        """The same again."""
        self.cursor_position = 0

    def offer(self, names: Sequence[str], told: Sequence[str]) -> None:
        """Let Space choose from names that were read since."""
        self.choices, self.told = tuple(names), tuple(told)
        self.suggester = SuggestFromList(names, case_sensitive=True)

    def on_key(self, event: events.Key) -> None:
        """Take the next name, unless another one is being typed; asked for help, keep what is filled in."""
        if event.character == "?" and not self.selection.is_empty:
            # What is selected goes with the first key that is typed, but whoever types this wants to know something.
            self.cursor_position = len(self.value)
            self.app.notify("? is text here; F1 explains the fields", timeout=4)
        if event.key != "space" or not self.choices or self.value not in ("", *self.choices):
            return
        event.stop()
        event.prevent_default()
        at = self.choices.index(self.value) + 1 if self.value else 0
        self.value = self.choices[at % len(self.choices)]


class LabelledRow(Horizontal):
    """What something is called, and beside it what it is.

    Args:
        label: What it is called, safe to show.
        tone: The label's.
        value: What it is.
    """

    DEFAULT_CSS = f"""
    LabelledRow {{ height: 1; }}
    LabelledRow #label {{ width: {LABEL}; }}
    LabelledRow Input {{ background: $background; background-tint: 0%; width: 1fr; }}
    LabelledRow Input:focus {{ background: $surface; background-tint: 0%; }}
    """

    def __init__(self, label: str, tone: Tone, value: Widget) -> None:
        bar = Bar(Background.PAGE, id="label")
        bar.show((Cell(fit(f" {label}", LABEL), tone),))
        super().__init__(bar, value)


class FormRow(LabelledRow):
    """One question: what it is called, and if it is answered."""

    def __init__(self, question: Question, names: Sequence[str]) -> None:
        self.question = question
        self.answer: NameInput | Pick = (
            NameInput(question, names) if not question.options else Pick(question.options, question.text)
        )
        tone = Tone.PLAIN if question.field.required else Tone.DIM
        super().__init__(safe(question.title), tone, self.answer)

    @property
    def text(self) -> str:
        """What stands in it."""
        return self.answer.value

    @property
    def offers(self) -> Sequence[str]:
        """What Space chooses from, as help lists it; nothing if it is typed."""
        return self.question.options or getattr(self.answer, "told", ())


class Rows(VerticalScroll, inherit_bindings=False):
    """Rows that scroll with the focus alone: if they do not fit, the arrows still go from field to field."""


class FormScreen(ActingFrame):
    """The fields of an operation.

    Args:
        place: The place that one acts from.
        app_state: What is known now.
        operation: The operation.
        selection: What the cursor was on; none for nothing.
        given: What to fill in besides, by the names of the fields.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1,question_mark", "explain", "help", show=False),
        Binding("up", "app.focus_previous", "previous field", show=False),
        Binding("down", "app.focus_next", "next field", show=False),
    ]
    HINTS = (("Enter", "make the plan"), ("↑ ↓", "field"), CHOOSE, EMPTY, "back")
    COMMON_HINTS = (("^p", "commands"), ("^q", "quit"), ("F1", "help"))
    DEFAULT_CSS = """
    FormScreen VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
    FormScreen #told { height: 5; }
    """

    def __init__(
        self,
        place: Route,
        app_state: AppState,
        operation: Operation[Any, Any],
        selection: Selection | None,
        given: Mapping[str, Any],
    ) -> None:
        super().__init__(place, app_state, command_words(operation.name))
        self._operation = operation
        self._subject = selection
        streams, intent = app_state.observed, operation.intent
        filled = {**consumers_for(intent, streams, selection), **given}
        asked = questions_for(intent, selection, filled, long=intent.rated)
        self._rows = [
            FormRow(question, names_for(question.field, streams, selection, filled)) for question in asked
        ]
        self._help_view = TextView(id="told")
        self._help_view.can_focus = False
        self._wrong: WrongAnswer | None = None
        self._why_mode = ""
        self._state = Bar(Background.PAGE, id="state")

    def compose_body(self) -> Iterable[Widget]:
        """What it does, the rows, and what the focused one means."""
        summary = Bar(Background.PAGE)
        summary.show((Cell(f" {safe(self._operation.summary)}", Tone.STRONG),))
        yield summary
        yield self._state
        with Rows(can_focus=False, id="rows"):
            yield from self._rows
        yield self._help_view

    def on_mount(self) -> None:
        """Begin with the first row that has to be filled in; read what the choice depends on."""
        self.focus_body()
        self.read_state()

    def read_state(self) -> None:
        """Read what dead letters died of, or how many entries a trim may drop, if that is asked for."""
        selection, intent = self._subject, self._operation.intent
        if selection is None:
            return
        if words := form_note(self._operation.name, selection):
            self._say_state(words)
        if "reasons" in {row.question.field.completes for row in self._rows}:
            queue = selection.stream
            self.fetch(lambda source: source.dead_letters.queue(queue), self._take_queue, lambda _: None)
        elif (most := most_of(intent, selection.stream)) is not None:
            self._say_state("counting what can be dropped safely")
            self.fetch(
                lambda source: source.prepare(most),
                lambda prepared: self._say_state(safe_to_trim(prepared)),
                lambda error: self._say_state(safe(error.message)),
            )

    def _say_state(self, words: str) -> None:
        self._state.show((Cell(f" {words}", Tone.DIM),))

    def _take_queue(self, queue: QueueSummary) -> None:
        """Offer the reasons, the most frequent first, and fill in how a replay goes back if that is not chosen yet."""
        for row in self._rows:
            if isinstance(row.answer, NameInput) and row.question.field.completes == "reasons":
                reasons = [(reason, number) for reason, number in queue.tally.reasons if reason]
                told = [f"{safe(reason)} {count(number)}" for reason, number in reasons]
                row.answer.offer([reason for reason, _ in reasons], told)
            elif (
                isinstance(row.answer, Pick) and row.question.field.choice is ReplayMode and row.text == NONE
            ):
                self._why_mode = why_mode_is_needed(queue, self.app_state.observed)
                row.answer.choose(mode_for(queue, self.app_state.observed) or NONE)
                row.answer.call(NONE, "to be chosen" if self._why_mode else f"{NONE}: {ReplayMode.REPUBLISH}")
        self._show_help()
        self.show_bars()

    def action_explain(self) -> None:
        """Show what every field means, the one with the keys first."""
        focused = self._focused_row()
        rows = [row for row in self._rows if row is not focused]
        first = [] if focused is None else [focused]
        self.app.push_screen(
            FormHelpScreen(self.place, self.app_state, self.title_word, self._operation, (*first, *rows))
        )

    def focus_body(self) -> None:
        """Give the keys to the first row that has to be filled in, else to the last one that is about the target."""
        empty = [row for row in self._rows if row.question.field.required and not row.text]
        later = [row for row in self._rows if not row.question.field.argument]
        (*empty, *later, *self._rows)[0].answer.focus()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Tell what the row means, and whether Space chooses."""
        del event
        self._show_help()
        self.show_bars()

    def hints(self) -> tuple[Hint, ...]:
        """Without what the focused row does not offer."""
        row = self._focused_row()
        left_out = (CHOOSE if row is None or not row.offers else EMPTY if row.question.options else None,)
        return tuple(hint for hint in self.HINTS if hint not in left_out)

    def on_pick_picked(self) -> None:
        """Forget what was wrong: it may not be any more."""
        self._forget_wrong()

    def _forget_wrong(self) -> None:
        if self._wrong is not None:
            self._wrong = None
            self._show_help()

    def on_input_changed(self, event: Input.Changed) -> None:
        """A reason stands for its dead letters, not for the one under the cursor."""
        changed = next((row for row in self._rows if row.answer is event.input), None)
        if changed is not None and changed.question.field.completes == "reasons":
            self._choose_by_reason(changed.text)
        self._forget_wrong()

    def _choose_by_reason(self, reason: str) -> None:
        """Take the ID of the row under the cursor out, or put it back; IDs that were marked, typed or needed stay."""
        if self._subject is None or self._subject.chosen:
            return
        for row in self._rows:
            field, own = row.question.field, row.question.text
            if field.name == "ids" and not field.required and row.text == (own if reason else ""):
                row.answer.value = "" if reason else own

    def on_input_submitted(self) -> None:
        """Make the plan."""
        self._submit()

    def on_pick_submitted(self) -> None:
        """Make the plan."""
        self._submit()

    def copyable(self) -> str | None:
        """What stands in the focused row."""
        row = self._focused_row()
        return None if row is None else row.text

    def finish(self, intent: Struct) -> Struct:
        """Put in what other rows than an intent's fields say; raises ``WrongAnswer``."""
        return intent

    def _submit(self) -> None:
        questions = [row.question for row in self._rows]
        try:
            intent, limits = read_form(self._operation.intent, questions, [row.text for row in self._rows])
            self._check_mode()
            intent = self.finish(intent)
        except WrongAnswer as wrong:
            self._wrong = wrong
            for row in self._rows:
                if row.question.field.name == wrong.field:
                    row.answer.focus()
            self._show_help()
            return
        self.console.open_plan(self.title_word, MakePlan(intent, limits, self._chosen(intent)))

    def _check_mode(self) -> None:
        """Raise ``WrongAnswer`` where dead letters go back to several groups and no mode says to which."""
        texts = {row.question.field.name: row.text for row in self._rows}
        if self._why_mode and texts.get("mode") == NONE and not texts.get("to"):
            raise WrongAnswer("mode", f"mode is needed: {self._why_mode}; Space chooses")

    def _chosen(self, intent: Struct) -> str:
        """How its rows were chosen; nothing once the form names others."""
        selection, ids = self._subject, getattr(intent, "ids", None)
        return (
            selection.chosen if selection is not None and ids in (selection.ids, selection.messages) else ""
        )

    def _show_help(self) -> None:
        row, wrong = self._focused_row(), self._wrong
        self._help_view.show(lambda width: _help(row, wrong, width))

    def _focused_row(self) -> FormRow | None:
        return next((row for row in self._rows if row.answer.has_focus), None)


def _help(row: FormRow | None, wrong: WrongAnswer | None, width: int) -> list[Line]:
    if wrong is not None:
        return paragraph(f"✗ {safe(wrong.why)}", width, Tone.CRITICAL, hang=2)
    if row is None:
        return []
    return _explained(row, width)


def _explained(row: FormRow, width: int) -> list[Line]:
    lines = paragraph(safe(row.question.help), width, Tone.DIM)
    if cell_width(row.text) > width - LABEL - FRAME:
        lines += paragraph(f"In full: {safe(row.text)}", width, Tone.PLAIN)
    if row.offers and not row.question.options:
        lines += paragraph(
            f"Space chooses: {first_few([safe(name) for name in row.offers])}", width, Tone.DIM
        )
    return lines


class FormHelpScreen(ActingFrame):
    """What an operation does, and what the fields of its form mean.

    Args:
        place: The place that one acts from.
        app_state: What is known now.
        title: The operation's name.
        operation: The operation.
        rows: Its fields, in the order to explain them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f1,question_mark", "back", "back", show=False)]
    HINTS = ("back", ("up down", "scroll"))
    AUTO_FOCUS = "#main"

    def __init__(
        self,
        place: Route,
        app_state: AppState,
        title: str,
        operation: Operation[Any, Any],
        rows: Sequence[FormRow],
    ) -> None:
        super().__init__(place, app_state, f"{title}, help")
        self._summary = operation.summary
        self._rows = rows

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield TextView(self._build, id="main")

    def _build(self, width: int) -> list[Line]:
        lines = [*paragraph(safe(self._summary), width, Tone.STRONG), BLANK_LINE]
        for row in self._rows:
            lines += [
                *paragraph(safe(row.question.title), width, Tone.OK),
                *_explained(row, width),
                BLANK_LINE,
            ]
        return lines
