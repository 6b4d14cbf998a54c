"""A line to type in, in the place of the crumbs: a filter after ``/``, a place after ``:``."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input

from streamops.present.table import Cell, Tone
from streamops.tui.bars import Bar
from streamops.tui.theme import Ground

PLACEHOLDERS = {
    "/": "words that rows must hold, !word for one they must not",
    ":": "stream [group], ctx [name], streams, status, audit, jobs",
}


class Prompt(Horizontal):
    """A sign and an input.

    Args:
        sign: ``/`` or ``:``.
        text: What stands in it at first.
        names: What it may complete to.
    """

    DEFAULT_CSS = """
    Prompt { height: 1; }
    Prompt Bar { width: 3; }
    Prompt Input { background: $background; background-tint: 0%; }
    Prompt Input:focus { background-tint: 0%; }
    """

    class Changed(Message):
        """The text changed while typing.

        Attributes:
            sign: The prompt's sign.
            text: The text.
        """

        def __init__(self, sign: str, text: str) -> None:
            super().__init__()
            self.sign = sign
            self.text = text

    class Entered(Changed):
        """The text was typed to its end."""

    def __init__(self, sign: str, text: str = "", names: Sequence[str] = ()) -> None:
        super().__init__()
        self.sign = sign
        self._text = text
        self._names = names

    def compose(self) -> ComposeResult:
        """The sign and the input."""
        sign = Bar(Ground.PAGE)
        sign.show((Cell(f" {self.sign} ", Tone.OK),))
        yield sign
        # Only names that a person can type: completion of an escaped one would name another stream.
        names = [name for name in self._names if name.isprintable()]
        entry = Input(
            self._text,
            placeholder=PLACEHOLDERS[self.sign],
            suggester=SuggestFromList(names, case_sensitive=False) if names else None,
            compact=True,
            select_on_focus=False,
        )
        entry.cursor_blink = False
        yield entry

    def on_mount(self) -> None:
        """Take the keys."""
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass the text up."""
        event.stop()
        self.post_message(self.Changed(self.sign, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass the text up."""
        event.stop()
        self.post_message(self.Entered(self.sign, event.value))
