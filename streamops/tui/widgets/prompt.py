"""A line to type in, in the place of the crumbs: a filter after ``/``, a place after ``:``, what to search for."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from streamops.resources.table import Cell, Tone
from streamops.tui.theme import Background
from streamops.tui.widgets.bars import Bar

FILTER: Final = "/"
GO_TO: Final = ":"
SEARCH: Final = "search"
WHERE: Final = "where"
SAVE: Final = "save to"
OVERWRITE: Final = "overwrite"
PLACEHOLDERS: Final = {
    FILTER: "words, !word, lag>1000, health:crit",
    GO_TO: "stream [group], stream ID, delayed, topics, jobs, pools, view NAME, ctx NAME",
    WHERE: "reason == 'timeout' && deliveries > `3`, over {id, time, reason, group, deliveries, error, fields, json}",
    SEARCH: "words to find in payloads, !word to exclude; or: where json.body.amount > `100`",
    SAVE: "a path, such as ~/payload.bin",
    OVERWRITE: "yes",
}
HELP: Final = {
    FILTER: (
        ("words", "names, health, findings"),
        ("!word", "not"),
        ("lag>1k idle>5m health:crit", "columns"),
        ("lag=?", "unknown"),
        ("tab", "complete"),
        ("↑↓", "history"),
    ),
    GO_TO: (
        ("STREAM GROUP", "group"),
        ("STREAM ID", "entry"),
        ("view NAME", "saved view"),
        ("save NAME", "save this view"),
        ("tab", "complete"),
        ("↑↓", "history"),
    ),
    WHERE: (
        ("JMESPath", "all dead letters that match, not only those shown"),
        ("enter", "apply"),
        ("esc", "unchanged"),
    ),
    SEARCH: (
        ("words", "contains all, ignoring case"),
        ('"two words"', "exact phrase"),
        ("!word", "not"),
        ("where EXPR", "JMESPath over id, time, fields, json"),
    ),
    SAVE: (
        ("enter", "write the bytes as they are"),
        ("~", "home directory"),
        ("↑↓", "history"),
        ("esc", "cancel"),
    ),
    OVERWRITE: (("enter", "overwrite"), ("esc", "cancel")),
}


def whole_line(names: Sequence[str]) -> Callable[[str], str | None]:
    """Complete a line to the first name that begins with it, whatever its case."""
    folded = [name.casefold() for name in names]

    def complete(line: str) -> str | None:
        part = line.casefold()
        return next((name for name, known in zip(names, folded, strict=True) if known.startswith(part)), None)

    return complete


def last_word(names: Sequence[str]) -> Callable[[str], str | None]:
    """Complete the last word of a line."""
    whole = whole_line(names)

    def complete(line: str) -> str | None:
        before, space, word = line.rpartition(" ")
        found = whole(word.removeprefix("!")) if word else None
        return None if found is None else f"{before}{space}{'!' * word.startswith('!')}{found}"

    return complete


class _Completing(Suggester):
    def __init__(self, complete: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        """What the line may become; it must go on from what stands there."""
        found = self._complete(value)
        if found is None or len(found) <= len(value):
            return None
        # What is typed stays as it is typed until the completion is taken.
        return value + found[len(value) :]


class Prompt(Horizontal):
    """A sign and an input.

    Args:
        sign: What stands before the line: ``/``, ``:``, ``search`` and others of ``HELP``.
        text: What stands in it at first.
        complete: What a line may be completed to.
        typed: What was typed after this sign before, the oldest first.
    """

    DEFAULT_CSS = """
    Prompt { height: 1; }
    Prompt Input { width: 1fr; background: $background; background-tint: 0%; }
    Prompt Input:focus { background-tint: 0%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "complete", show=False, priority=True),
        Binding("up", "recall(-1)", "earlier line", show=False),
        Binding("down", "recall(1)", "later line", show=False),
    ]

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

    def __init__(
        self,
        sign: str,
        text: str = "",
        complete: Callable[[str], str | None] | None = None,
        typed: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.sign = sign
        self._text = text
        self._complete = complete
        # The line that is being typed is the newest of them.
        self._lines = [*(line for line in typed if line != text), text]
        self._at = len(self._lines) - 1

    def compose(self) -> ComposeResult:
        """The sign and the input."""
        sign = Bar(Background.PAGE)
        sign.show((Cell(f" {self.sign} ", Tone.OK),))
        sign.styles.width = len(self.sign) + 2
        yield sign
        entry = Input(
            self._text,
            placeholder=PLACEHOLDERS[self.sign],
            suggester=None if self._complete is None else _Completing(self._complete),
            compact=True,
            select_on_focus=False,
        )
        entry.cursor_blink = False
        yield entry

    def take_keys(self) -> None:
        """Take the keys, from the very next one on."""
        self.screen.set_focus(self.query_one(Input))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass the text up."""
        event.stop()
        self.post_message(self.Changed(self.sign, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass the text up."""
        event.stop()
        self.post_message(self.Entered(self.sign, event.value))

    def action_complete(self) -> None:
        """Take the completion."""
        line = self.query_one(Input).value
        found = self._complete(line) if self._complete is not None and line else None
        if found is not None:
            self._put(found)

    def action_recall(self, step: int) -> None:
        """Take what was typed before, or after that."""
        at = self._at + step
        if not 0 <= at < len(self._lines):
            return
        if self._at == len(self._lines) - 1:
            self._lines[-1] = self.query_one(Input).value
        self._at = at
        self._put(self._lines[at])

    def _put(self, line: str) -> None:
        entry = self.query_one(Input)
        entry.value = line
        entry.cursor_position = len(line)
