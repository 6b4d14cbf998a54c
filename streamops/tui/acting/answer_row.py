"""The line under a plan: Cancel, and the way to agree that the plan asks for. Cancel has the focus."""

from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Button, Input

from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe, shorten
from streamops.tui.theme import Background
from streamops.tui.widgets.bars import Bar
from streamops.tui.widgets.paint import BLANK_LINE, Line, cell_width

LONGEST: Final = 40
CLOSE: Final = "Close"
TAB_FIRST: Final = "Tab, then "
"""What goes before the way to agree while Cancel has the keys."""


def _label(words: str) -> Content:
    # In brackets, so that it looks like a button without colours too.
    return Content(f"[ {words} ]")


def _button(words: str, name: str) -> Button:
    return Button(_label(words), id=name, compact=True)


class Words(Bar):
    """Words as wide as they are."""

    def show(self, left: Line, right: Line = BLANK_LINE) -> None:
        """Say something else, in another width."""
        super().show(left, right)
        self.refresh(layout=True)

    def get_content_width(self, container: object, viewport: object) -> int:
        """As wide as what it says."""
        del container, viewport
        return cell_width(self.text)


class AnswerRow(Horizontal):
    """What a plan is answered with. It asks one thing at a time."""

    DEFAULT_CSS = """
    AnswerRow { height: 1; background: $surface; }
    AnswerRow Words { width: auto; max-width: 70%; }
    AnswerRow #cancel { width: 12; }
    AnswerRow Button { width: auto; min-width: 0; background: $surface; text-style: none; }
    AnswerRow #apply { color: $text-warning; }
    AnswerRow Button:focus { background: $block-cursor-background; color: $block-cursor-foreground; text-style: bold; }
    AnswerRow Input { width: 1fr; background: $background; background-tint: 0%; }
    AnswerRow Input:focus { background: $panel; background-tint: 0%; }
    """

    class Cancelled(Message):
        """Nothing is to be done, or no more."""

    class Agreed(Message):
        """It is to be done.

        Attributes:
            typed: What was typed; empty if nothing had to be.
        """

        def __init__(self, typed: str) -> None:
            super().__init__()
            self.typed = typed

    class Again(Message):
        """The plan is to be made again."""

    def __init__(self) -> None:
        super().__init__()
        self._cancel = _button("Cancel", "cancel")
        self._apply = _button("Apply", "apply")
        self._again = _button("Count again", "again")
        self._word = ""
        self._asked: object = None
        self._says = Words(Background.BAR, id="says")
        self._entry = Input(compact=True, select_on_focus=False, id="typed")
        self._entry.cursor_blink = False

    def compose(self) -> ComposeResult:
        """Everything there can be; most of it hidden."""
        yield from (self._cancel, self._apply, self._again, self._says, self._entry)

    def on_mount(self) -> None:
        """Nothing but Close as long as there is no plan."""
        self.ask_to_close(again=False)

    # -- what it asks --------------------------------------------------------------------------------

    def ask_for(self, policy: ConfirmationPolicy, fingerprint: str) -> None:
        """Ask for what a plan needs; what was typed for another plan does not count."""
        if not self._is_new((policy, fingerprint)):
            return
        self._word = policy.word
        self._entry.value = ""
        typed = policy.kind is ConfirmationKind.TYPED
        self._show(cancel="Cancel", apply=not typed, entry=typed)
        self._explain()
        # Where Enter is enough, it is pressed on Apply; everywhere else Cancel comes first.
        at_once = policy.kind in {ConfirmationKind.ENTER, ConfirmationKind.NONE}
        (self._apply if at_once else self._cancel).focus()

    def ask_to_wait(self, *, stopping: bool) -> None:
        """Offer to stop what is under way."""
        if self._is_new(("wait", stopping)):
            self._show(cancel="")
            words = "stopping after the current batch" if stopping else "Esc stops it after the current batch"
            self._says.show((Cell(words, Tone.WARN),))

    def ask_to_close(self, *, again: bool) -> None:
        """Nothing to agree to: offer to close, and to count again where that may help."""
        if self._is_new(("close", again)):
            self._show(cancel=CLOSE, again=again)
            self._cancel.focus()

    def take_focus(self) -> None:
        """Take the keys."""
        if self._cancel.display:
            self._cancel.focus()

    # -- what is answered ----------------------------------------------------------------------------

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Pass it up."""
        event.stop()
        if event.button is self._apply:
            self.post_message(self.Agreed(""))
        elif event.button is self._again:
            self.post_message(self.Again())
        else:
            self.post_message(self.Cancelled())

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say when it is right."""
        event.stop()
        self._explain()

    def on_descendant_focus(self) -> None:
        """Say what Enter does from here."""
        self._explain()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Agree if it is right."""
        event.stop()
        if self._is_right(event.value):
            self.post_message(self.Agreed(self._word))
        else:
            self.app.bell()

    # -- inside --------------------------------------------------------------------------------------

    def _is_new(self, asked: object) -> bool:
        known, self._asked = self._asked, asked
        return known != asked

    def _is_right(self, text: str) -> bool:
        # A name that cannot be typed is typed as it is shown.
        return bool(text) and text in {self._word, safe(self._word)}

    def _show(self, *, cancel: str, apply: bool = False, again: bool = False, entry: bool = False) -> None:
        self._cancel.display = bool(cancel)
        if cancel:
            self._cancel.label = _label(cancel)
        self._apply.display = apply
        self._again.display = again
        self._entry.display = entry
        self._says.show(())

    def _explain(self) -> None:
        """Say how to agree, from where the focus is."""
        first = TAB_FIRST if self._cancel.has_focus else ""
        if self._apply.display:
            self._says.show((Cell(f"{first}Enter applies", Tone.DIM),))
        elif self._entry.display and self._is_right(self._entry.value):
            self._says.show((Cell(f"{first}Enter applies: ", Tone.WARN),))
        elif self._entry.display:
            name = Cell(shorten(safe(self._word), LONGEST), Tone.STRONG)
            self._says.show((Cell(f"{first}type "), name, Cell(", then Enter: ")))
