"""The frame around every screen: header, crumbs, banner, status and keys, and what the keys of all screens do."""

from collections.abc import Iterable
from time import monotonic
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from streamops.present.text import safe
from streamops.tui import words
from streamops.tui.asking import Back, GoTo
from streamops.tui.bars import Bar
from streamops.tui.deed import Deed
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.places import Place, command
from streamops.tui.prompt import Prompt
from streamops.tui.subjects import Subject, fitting
from streamops.tui.text_view import Builder, no_lines
from streamops.tui.theme import Ground

ROOM_FOR_WORDS: Final = 120


class Frame(Screen[None]):
    """One place of the console. Subclasses fill in the body.

    Args:
        place: Which place it is.
        moment: What is known now.
    """

    AUTO_FOCUS = "#main"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", show=False),
        Binding("colon", "go_to", "go to", show=False),
    ]
    HINTS: ClassVar[tuple[tuple[str, str], ...]] = ()
    COMMON_HINTS: ClassVar[tuple[tuple[str, str], ...]] = (
        (":", "go to"),
        ("^p", "commands"),
        ("^q", "quit"),
        ("?", "help"),
    )

    def __init__(self, place: Place, moment: Moment) -> None:
        super().__init__()
        self.place = place
        self.moment = moment
        self._header = Bar(id="header")
        self._crumbs = Bar(Ground.PAGE, id="crumbs")
        self._banner = Bar(Ground.BANNER, id="banner")
        self._status = Bar(Ground.PAGE, id="status")
        self._keys = Bar(id="keys")
        self._prompt: Prompt | None = None
        self._composed_once = False

    def compose(self) -> ComposeResult:
        """The bars around the body."""
        yield self._header
        yield self._crumbs
        yield self._banner
        yield from self.compose_body()
        yield self._status
        yield self._keys

    def on_mount(self) -> None:
        """Fill in what is known already."""
        self._composed_once = True
        self.show(self.moment)

    def show(self, moment: Moment) -> None:
        """Take another moment: a new observation, a loss, a change of pace."""
        self.moment = moment
        if not self._composed_once:
            return
        self._show_edges()
        self.show_body(moment)
        self.show_bars()

    def on_resize(self) -> None:
        """Say in the bars what fits."""
        if self._composed_once:
            self._show_edges()
            self.show_bars()

    def _show_edges(self) -> None:
        self._header.show(*words.header(self.moment, self.size.width))

    def tick(self) -> None:
        """A second went by: ages and countdowns move."""
        self.show_bars()

    def show_bars(self) -> None:
        """Say again what the bars around the body say."""
        moment, now = self.moment, monotonic()
        self._crumbs.show(words.crumbs(moment.context, self.place.trail), self.selection_words())
        self._banner.display = moment.loss is not None
        if moment.loss is not None:
            self._banner.show(words.banner(moment.loss, moment, now))
        self._status.show(words.status(moment, now), self.position_words())
        first, *others = (*self.hints(), *self.COMMON_HINTS)
        self._keys.show(words.keys((first, *self._acting_hints(), *others), self.size.width))

    def _acting_hints(self) -> tuple[tuple[str, str], ...]:
        """The capitals that open a plan here, each with its word where there is room; none where nothing may be changed."""
        if self.moment.context.read_only:
            return ()
        verbs = sorted((verb.key, verb.word) for verb in fitting(self.subject()))
        if self.size.width >= ROOM_FOR_WORDS:
            return tuple(verbs)
        return ((" ".join(key for key, _ in verbs), "plan"),) if verbs else ()

    # -- what subclasses fill in ---------------------------------------------------------------------

    def compose_body(self) -> Iterable[Widget]:
        """The widgets between the bars."""
        return ()

    def show_body(self, moment: Moment) -> None:
        """Put a moment into the body."""

    def selection_words(self) -> Line:
        """What the crumb line says at its right: a filter, a selection."""
        return BLANK_LINE

    def position_words(self) -> Line:
        """What the status line says at its right: where the cursor stands."""
        return BLANK_LINE

    def copyable(self) -> str | None:
        """The ID or name under the cursor; none where there is nothing to copy."""
        return None

    def command_text(self) -> str:
        """The command that does or prints the same."""
        return command(self.moment.context, self.place)

    def subject(self) -> Subject | None:
        """What an action would act on; none where there is nothing to act on."""
        return None

    def hints(self) -> tuple[tuple[str, str], ...]:
        """Keys of this place and what they do, for the line at the bottom."""
        return self.HINTS

    def stream_name(self) -> str | None:
        """The stream under the cursor, or the one the place is about; none where there is none."""
        return getattr(self.place, "stream", None)

    def reread(self) -> None:
        """Read again what this screen read for itself."""

    def follow(self) -> bool:
        """Follow again what arrives here; say whether this is a place that follows."""
        return False

    def tells(self, deed: Deed) -> bool:
        """Whether this screen shows what becomes of a deed."""
        del deed
        return False

    def acted(self) -> None:
        """Something was changed on the server by this console: read again what it may concern."""
        self.reread()

    def explain(self) -> Builder:
        """What help says about the row under the cursor."""
        return no_lines

    def prompted(self, text: str) -> None:
        """A filter was typed, or changed while it is typed."""

    def submitted(self) -> None:
        """A filter was typed to its end."""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say that a read failed in a way nobody foresaw."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            reason = f"internal error: {type(error).__name__}: {error}"
            self.notify(safe(reason), severity="error", markup=False)

    # -- keys of all screens -------------------------------------------------------------------------

    def action_back(self) -> None:
        """Close what is open on the screen, else leave it."""
        if self._prompt is not None:
            self._close_prompt(cancelled=True)
        elif not self.cancel():
            self.post_message(Back())

    def cancel(self) -> bool:
        """Undo a selection on the screen before it is left; say whether there was one."""
        return False

    def action_go_to(self) -> None:
        """Ask where to go."""
        self.open_prompt(Prompt(":", names=self._names()))

    def open_prompt(self, prompt: Prompt) -> None:
        """Put a prompt in the place of the crumbs."""
        if self._prompt is not None:
            return
        self._prompt = prompt
        self._crumbs.display = False
        self.mount(prompt, after=self._crumbs)

    def on_prompt_changed(self, message: Prompt.Changed) -> None:
        """Filter while typing."""
        message.stop()
        if message.sign == "/":
            self.prompted(message.text)

    def on_prompt_entered(self, message: Prompt.Entered) -> None:
        """Take what was typed."""
        message.stop()
        self._close_prompt(cancelled=False)
        if message.sign == "/":
            self.prompted(message.text)
            self.submitted()
        elif message.text.strip():
            self.post_message(GoTo(message.text))

    def _close_prompt(self, *, cancelled: bool) -> None:
        prompt, self._prompt = self._prompt, None
        if prompt is None:
            return
        if cancelled and prompt.sign == "/":
            self.prompted("")
        prompt.remove()
        self._crumbs.display = True
        self.focus_body()

    def focus_body(self) -> None:
        """Give the keys to the body."""
        for widget in self.query("#main"):
            widget.focus()

    def _names(self) -> list[str]:
        observation = self.moment.observation
        if observation is None:
            return []
        streams = [stream.stream.name for stream in observation.streams]
        groups = [
            f"{group.stream} {group.group.name}" for stream in observation.streams for group in stream.groups
        ]
        return [*streams, *groups]
