"""The frame around every screen: header, crumbs or a prompt, banner, status and keys, and what the keys of all screens do."""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from inspect import isawaitable
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar, cast

from textual import on
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from streamops.errors import StreamopsError, Unreachable
from streamops.model.entries import EntryId
from streamops.resources.actions import KEYS, key_names
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui import goto
from streamops.tui.keys import SHORT, Hint, WithKeys, first_key, hint_pairs
from streamops.tui.lines import words
from streamops.tui.polling.app_state import AppState, RunningOperation
from streamops.tui.routes import Route, SearchRoute, command, entry_of
from streamops.tui.rows.selection import VERBS, Selection, fitting, holds_dead_letters, selection_at
from streamops.tui.source import Source
from streamops.tui.theme import Background
from streamops.tui.widgets.bars import Bar, KeyBar
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.prompt import FILTER, GO_TO, HELP, SEARCH, Prompt, whole_line
from streamops.tui.widgets.text_view import Builder, no_lines

if TYPE_CHECKING:
    from streamops.tui.app import StreamopsApp


class Prompting(WithKeys, Screen[None]):
    """A place with a prompt in the place of its crumbs while something is typed.

    Args:
        place: Which place it is.
        app_state: What is known now.
    """

    BLANK: ClassVar[bool] = True

    @property
    def console(self) -> "StreamopsApp":
        """The app that this is a screen of."""
        return cast("StreamopsApp", self.app)

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__()
        self.place = place
        self.app_state = app_state
        self._crumbs = Bar(Background.PAGE, id="crumbs")
        self._prompt: Prompt | None = None
        self._complaint = ""

    def show_bars(self) -> None:
        """Say again what the bars around the body say."""

    def stream_name(self) -> str | None:
        """The stream under the cursor, or the one the place is about; None if there is none."""
        return getattr(self.place, "stream", None)

    def prompted(self, text: str) -> None:
        """A filter was typed, or changed while it is typed."""

    def submitted(self) -> None:
        """A filter was typed to its end."""

    def complaint(self, sign: str, text: str) -> str:
        """What is wrong with what is being typed; empty if nothing is."""
        if sign != SEARCH or not text.strip():
            return ""
        from streamops.tui.rows.finding import problem  # noqa: PLC0415 - only who searches pays for expressions

        return problem(text)

    # -- while something is typed ----------------------------------------------------------------------

    async def action_go_to(self) -> None:
        """Ask where to go."""
        app_state = self.app_state
        names = goto.completions(
            app_state.observation, app_state.views, [context.name for context in app_state.contexts]
        )
        await self.open_prompt(
            Prompt(GO_TO, complete=whole_line(names), typed=app_state.typed.get(GO_TO, ()))
        )

    async def search(self) -> None:
        """Ask what to search the payloads of the stream under the cursor for."""
        await self.open_prompt(Prompt(SEARCH, typed=self.app_state.typed.get(SEARCH, ())))

    async def open_prompt(self, prompt: Prompt) -> None:
        """Put a prompt in the place of the crumbs; it has the next key, however fast somebody types."""
        if self._prompt is not None:
            return
        self._prompt = prompt
        self._crumbs.display = False
        self.show_bars()
        await self.mount(prompt, after=self._crumbs)
        prompt.take_keys()

    def on_prompt_changed(self, message: Prompt.Changed) -> None:
        """Filter while typing."""
        message.stop()
        self._complaint = safe(self.complaint(message.sign, message.text))
        if message.sign == FILTER:
            self.prompted(message.text)
        self.show_bars()

    def on_prompt_entered(self, message: Prompt.Entered) -> None:
        """Take what was typed."""
        message.stop()
        self._complaint = safe(self.complaint(message.sign, message.text))
        if self._complaint:
            self.show_bars()
            return
        self._close_prompt(cancelled=False)
        if message.text.strip():
            self.console.note_typed(message.sign, message.text.strip())
        if message.sign == FILTER:
            self.prompted(message.text)
            self.submitted()
        elif message.text.strip():
            if message.sign == GO_TO:
                self.console.go_to(message.text)
            else:
                self.entered(message.sign, message.text.strip())

    def entered(self, sign: str, text: str) -> None:
        """Something other than a filter or a place was typed to its end: what to search the stream for."""
        del sign
        if (stream := self.stream_name()) is not None:
            self.console.go(SearchRoute(stream, text))

    def _close_prompt(self, *, cancelled: bool) -> None:
        prompt, self._prompt = self._prompt, None
        self._complaint = ""
        if prompt is None:
            return
        if cancelled and prompt.sign == FILTER:
            self.prompted("")
        prompt.remove()
        self._crumbs.display = True
        self.focus_body()
        self.show_bars()

    def focus_body(self) -> None:
        """Give the keys to the body."""
        for widget in self.query("#main"):
            widget.focus()


Answer = TypeVar("Answer")

READS: Final = "reads"
"""The group of workers that read for a screen."""


class Frame(Prompting):
    """One place of the console. Subclasses fill in the body.

    Args:
        place: Which place it is.
        app_state: What is known now.

    Attributes:
        is_composed: Whether its widgets are there.
    """

    AUTO_FOCUS = "#main"
    explains_row = False
    """Whether this is help that explains a row."""
    is_undo = False
    """Whether this is the plan of an undo."""
    HINTS: ClassVar[tuple[Hint, ...]] = ()
    COMMON_HINTS: ClassVar[tuple[Hint, ...]] = (
        "go_to",
        ("^p", "commands"),
        ("^q", "quit"),
        "help",
    )

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._header = Bar(id="header")
        self._guide = Bar(Background.PAGE, id="guide")
        self._banner = Bar(Background.BANNER, id="banner")
        self._status = Bar(Background.PAGE, id="status")
        self._keys = KeyBar(id="keys")
        self.is_composed = False

    def compose(self) -> ComposeResult:
        """The bars around the body."""
        self._fit_width()
        yield self._header
        yield self._crumbs
        yield self._banner
        yield self._guide
        yield from self.compose_body()
        yield self._status
        yield self._keys

    def on_mount(self) -> None:
        """Fill in what is known already."""
        self.is_composed = True
        self.show(self.app_state)
        self.console.start_history()

    def show(self, app_state: AppState) -> None:
        """Take another moment: a new observation, a loss, a change of pace."""
        self.app_state = app_state
        if not self.is_composed:
            return
        self._show_edges()
        self.show_body(app_state)
        self.show_bars()

    def on_resize(self) -> None:
        """Say in the bars what fits."""
        if self.is_composed:
            self._show_edges()
            self.show_bars()

    def _fit_width(self) -> None:
        # With its first resize Textual would do so, and style all of the screen once more.
        width = self.app.size.width
        fitting_ones = [name for least, name in self.app.HORIZONTAL_BREAKPOINTS or () if width >= least]
        self.add_class(*fitting_ones[-1:], update=False)

    def _show_edges(self) -> None:
        self._header.show(*words.header(self.app_state, self.size.width))

    def tick(self) -> None:
        """A second went by: ages and countdowns move."""
        self.show_bars()

    def show_bars(self) -> None:
        """Say again what the bars around the body say."""
        app_state, now = self.app_state, monotonic()
        self._crumbs.show(words.crumbs(app_state.context, self.place.breadcrumbs), self.selection_words())
        guide = self._guide_words()
        self._guide.display = bool(guide)
        self._guide.show((Cell(guide, Tone.OK),))
        self._banner.display = app_state.loss is not None or app_state.mismatch is not None
        if app_state.loss is None and app_state.mismatch is not None:
            self._banner.show(words.mismatch_banner(app_state.mismatch))
        elif app_state.loss is not None:
            self._banner.show(words.banner(app_state.loss, app_state, now))
        self._status.show(words.status(app_state, now), self.position_words())
        self._keys.show(self._key_words())

    def _guide_words(self) -> str:
        guide = self.console.guide
        if guide is None:
            return ""
        return guide.line(
            self.place,
            explained=self.explains_row,
            acted=bool(self.app_state.deeds),
            undoing=self.is_undo,
        )

    def _key_words(self) -> Line:
        """The keys of this place; while something is typed, what may be, or what is wrong with it."""
        if self._prompt is not None:
            if self._complaint:
                return (Cell(f" ▲ {self._complaint}", Tone.WARN),)
            return words.keys(HELP[self._prompt.sign], self.size.width)
        first, *others = (*self.hints(), *self.COMMON_HINTS)
        hints = hint_pairs((first, *self.verb_hints(), *others), self.app_state.keymap)
        return words.keys(hints, self.size.width)

    @on(Bar.Clicked, "#crumbs")
    def _leave_to(self, message: Bar.Clicked) -> None:
        """Go back to a crumb."""
        self.console.go_to_crumb(message.part)

    def explain_key(self, key: str) -> None:
        """Say why a key does nothing here: it is for something else, or nothing may be changed."""
        keymap = self.app_state.keymap
        meant = [row for row in KEYS.values() if key in key_names(keymap.get(row.name, row.keys))]
        # One answer at a time: a key pressed again would pile them up.
        self.app.clear_notifications()
        if not meant:
            self.console.say(f"{SHORT.get(key, key)} is not a key here; ? lists the keys")
            return
        shown = first_key(meant[0].name, keymap)
        verbs = [verb for verb in VERBS if f"plan.{verb.key}" in {row.name for row in meant}]
        if verbs and self.app_state.read_only:
            self.console.say(f"read-only: {shown} ({verbs[0].word}) changes nothing here", warning=True)
        elif verbs and not self.app_state.may_plan:
            self.console.say(f"{shown}: {self.console.why_no_plan()}", warning=True)
        elif verbs:
            uses = "; ".join(f"{verb.word} on {verb.nouns}" for verb in verbs)
            self.console.say(f"{shown} does nothing on this row. Elsewhere: {uses}")
        else:
            self.console.say(f"{shown} does nothing here. Elsewhere: {'; '.join(row.help for row in meant)}")

    def verb_hints(self) -> tuple[Hint, ...]:
        """The capitals that open a plan here; None if nothing may be changed."""
        if self.app_state.read_only:
            return ()
        return tuple((f"plan.{verb.key}", verb.word) for verb in fitting(self.selection()))

    # -- what subclasses fill in ---------------------------------------------------------------------

    def compose_body(self) -> Iterable[Widget]:
        """The widgets between the bars."""
        return ()

    def show_body(self, app_state: AppState) -> None:
        """Put a moment into the body."""

    def selection_words(self) -> Line:
        """What the crumb line says at its right: a filter, a selection."""
        return BLANK_LINE

    def position_words(self) -> Line:
        """What the status line says at its right: where the cursor stands."""
        return BLANK_LINE

    def copyable(self) -> str | None:
        """The ID or name under the cursor; None if there is nothing to copy."""
        return None

    def command_text(self) -> str:
        """The command that does or prints the same."""
        return command(self.app_state.context, self.place)

    def selection(self) -> Selection | None:
        """What an action would act on; None if there is nothing to act on."""
        return None

    def selection_of(self, place: Route | None) -> Selection | None:
        """What a row leads to, as a subject; the place itself if there is no row."""
        place = place or self.place
        stream = getattr(place, "stream", None)
        dead = stream is not None and holds_dead_letters(self.app_state.observed, stream)
        return selection_at(place, dead_letters=dead)

    def hints(self) -> tuple[Hint, ...]:
        """Keys of this place and what they do, for the line at the bottom."""
        return self.HINTS

    def entry_at(self) -> tuple[str, EntryId] | None:
        """The entry under the cursor, or the one the place is about, with its stream; None if there is none."""
        return entry_of(self.place)

    def fetch(
        self,
        read: Callable[[Source], Awaitable[Answer]],
        take: Callable[[Answer], object],
        failed: Callable[[StreamopsError], object] | None = None,
    ) -> None:
        """Read something in the background; ``take`` gets it, or ``failed`` the reason why not (``unread`` if not given)."""
        # The function, not its coroutine: a screen that is left at once would leave one behind that nobody awaited.
        _: Worker[None] = self.run_worker(
            partial(self._fetch, read, take, failed or self.unread), group=READS, exit_on_error=False
        )

    async def _fetch(
        self,
        read: Callable[[Source], Awaitable[Answer]],
        take: Callable[[Answer], object],
        failed: Callable[[StreamopsError], object],
    ) -> None:
        source = self.console.live.source
        try:
            if source is None:
                raise Unreachable("not connected", "wait for the connection, then press r")
            found = await read(source)
        except StreamopsError as error:
            failed(error)
            return
        taken = take(found)
        if isawaitable(taken):
            await taken

    def unread(self, error: StreamopsError) -> None:
        """Say why something could not be read."""

    def reread(self) -> None:
        """Read again what this screen read for itself."""

    def follow(self) -> bool:
        """Follow again what arrives here; say whether this is a place that follows."""
        return False

    def tells(self, deed: RunningOperation) -> bool:
        """Whether this screen shows what becomes of a deed."""
        del deed
        return False

    def acted(self) -> None:
        """Something was changed on the server by this console: read again what it may concern."""
        self.reread()

    def explain(self) -> Builder:
        """What help says about the row under the cursor."""
        return no_lines

    def numbers(self) -> Builder:
        """What help says about the numbers of that row."""
        return no_lines

    def focus_place(self) -> Route:
        """Where the row under the cursor leads, else the place itself: what help explains."""
        return self.place

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say that a read failed in a way nobody foresaw."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            reason = f"internal error: {type(error).__name__}: {error}"
            self.notify(safe(reason), severity="error", markup=False)

    def why_no_undo(self) -> str:
        """Why ``z`` undoes nothing here; empty if it does."""
        return self.console.why_no_undo()

    # -- keys of all screens -------------------------------------------------------------------------

    def action_back(self) -> None:
        """Close what is open on the screen, else leave it."""
        if self._prompt is not None:
            self._close_prompt(cancelled=True)
        elif not self.cancel():
            self.console.back()

    def cancel(self) -> bool:
        """Undo a selection on the screen before it is left; say whether there was one."""
        return False


class ActingFrame(Frame):
    """A form or a plan.

    Args:
        place: The place that one acts from.
        app_state: What is known now.
        title: The operation's name.
    """

    AUTO_FOCUS = ""

    def __init__(self, place: Route, app_state: AppState, title: str) -> None:
        super().__init__(place, app_state)
        self.title_word = title

    def selection_words(self) -> Line:
        """The operation."""
        return (Cell(f"{safe(self.title_word)} ", Tone.STRONG),)

    def acted(self) -> None:
        """What was done is told here already."""
