"""The part of the console that goes from place to place: it owns the stack of screens."""

from abc import abstractmethod
from importlib import import_module
from typing import ClassVar, Final

from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.screen import Screen
from textual.widgets import Input

from streamops.present.text import safe, shorten
from streamops.tui import goto, places
from streamops.tui.asking import Copy, Go, GoTo, Say, SwitchContext, Typed
from streamops.tui.live import Live
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.frame import Frame

LONGEST_NOTICE: Final = 400


class GoingApp(App[int]):
    """An app of places, one on top of the other.

    Attributes:
        live: What is known, and where it comes from.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", show=False, id="help"),
        Binding("2", "streams", "streams", show=False, id="streams"),
        Binding("t", "tail", "tail", show=False, id="tail"),
        Binding("a", "trace", "what became of the entry", show=False, id="trace"),
        Binding("s", "search", "search payloads", show=False, id="search"),
        Binding("ctrl+y", "accept_server", "accept the other server", show=False, id="accept_server"),
        Binding("y", "copy_id", "copy ID", show=False, id="copy_id"),
        Binding("c", "copy_command", "copy command", show=False, id="copy_command"),
    ]
    live: Live

    @property
    def moment(self) -> Moment:
        """What is known now."""
        return self.live.moment

    @property
    def frame(self) -> Frame:
        """The topmost place; palettes may lie above it."""
        return next(screen for screen in reversed(self.screen_stack) if isinstance(screen, Frame))

    def _screen_of(self, place: Place) -> Frame:
        """A new screen of a place, imported when it is first opened."""
        module, name = place.screen.split(":")
        screen: Frame = getattr(import_module(f"streamops.tui.screens.{module}"), name)(place, self.moment)
        return screen

    def get_default_screen(self) -> Screen[None]:
        """The root of the stack."""
        return self._screen_of(places.Status())

    @abstractmethod
    def switch_context(self, name: str) -> None:
        """Go to another server, by its context's name."""

    @abstractmethod
    def show_view(self, name: str) -> None:
        """Open a saved view; the list of them where no name is given."""

    @abstractmethod
    def save_view(self, name: str) -> None:
        """Save the list on the screen as a view."""

    @abstractmethod
    def copy(self, text: str, what: str) -> None:
        """Copy a text; what it is, in words, is told with the way that it went."""

    @abstractmethod
    async def action_quit(self) -> None:
        """Quit."""

    def on_key(self, event: Key) -> None:
        """Give a prompt what was typed before it had the keys.

        Keys are handed to a widget as they come, and obeyed one by one: what comes in one piece, over a slow line or from
        a script, has all gone to the list by the time its first key opens the prompt.
        """
        focused = self.focused
        if isinstance(focused, Input) and event.is_printable and event.character is not None:
            event.prevent_default()
            focused.insert_text_at_cursor(event.character)

    # -- what screens ask for ------------------------------------------------------------------------

    def on_go(self, message: Go) -> None:
        """Open a place on top."""
        self.go(message.place)

    def on_back(self) -> None:
        """Leave the place on top."""
        if len(self.screen_stack) > 1:
            self.pop_screen()
            self.pass_down()

    async def on_go_to(self, message: GoTo) -> None:
        """Go to what was typed, or say why not."""
        match goto.parse_goal(message.text, self.moment.observation, self.frame.stream_name()):
            case goto.Switch(context):
                self.switch_context(context)
            case goto.ShowView(name):
                self.show_view(name)
            case goto.SaveView(name):
                self.save_view(name)
            case goto.Quit():
                await self.action_quit()
            case goto.Nowhere(reason):
                self.say(reason, warning=True)
            case place:
                self.go(place)

    def on_typed(self, message: Typed) -> None:
        """Remember what was typed."""
        self.live.remember(message.sign, message.text)
        self.pass_down()

    def on_copy(self, message: Copy) -> None:
        """Copy a text."""
        self.copy(message.text, message.what)

    def on_say(self, message: Say) -> None:
        """Say something in passing."""
        self.say(message.text, warning=message.warning)

    def on_switch_context(self, message: SwitchContext) -> None:
        """Connect elsewhere."""
        self.switch_context(message.name)

    def go(self, place: Place) -> None:
        """Open a place on top; the root is gone back to."""
        if isinstance(place, places.Status):
            self.action_root()
        elif place != self.frame.place:
            self.push_screen(self._screen_of(place))

    def say(self, text: str, *, warning: bool = False) -> None:
        """Say something in passing, literally."""
        self.notify(
            shorten(safe(text), LONGEST_NOTICE),
            severity="warning" if warning else "information",
            timeout=4,
            markup=False,
        )

    def pass_down(self) -> None:
        """Show the moment."""
        # A message may still come when the screens are gone.
        if self.screen_stack:
            self.frame.show(self.moment)

    # -- keys ----------------------------------------------------------------------------------------

    def action_root(self) -> None:
        """Go back to the first screen."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.pass_down()

    def action_streams(self) -> None:
        """Show all streams, on top of the first screen."""
        self.action_root()
        self.go(places.Streams())

    def action_contexts(self) -> None:
        """Show all contexts."""
        self.go(places.Contexts())

    def action_tail(self) -> None:
        """Tail the stream under the cursor; on a tail, follow again."""
        frame = self.frame
        if not frame.follow() and (stream := frame.stream_name()) is not None:
            self.go(places.Entries(stream))

    def action_trace(self) -> None:
        """Tell what became of the entry under the cursor."""
        entry = self.frame.entry_at()
        if entry is not None:
            self.go(places.Trace(*entry))

    def action_accept_server(self) -> None:
        """Take the server that answers for the one that is meant, and unlock writes."""
        if self.moment.stranger is not None:
            self.live.accept_server()
            self.pass_down()
            self.say("writes are unlocked: this server is the one from now on")

    async def action_search(self) -> None:
        """Search the payloads of the stream under the cursor."""
        if self.frame.stream_name() is None:
            self.say("there is no stream under the cursor to search")
        else:
            await self.frame.search()

    def action_help(self) -> None:
        """Explain the row under the cursor, and the keys."""
        from streamops.tui.screens.help import HelpScreen  # noqa: PLC0415 - the first screen needs none of it

        if not isinstance(self.frame, HelpScreen):
            self.push_screen(HelpScreen(self.frame))

    def action_copy_id(self) -> None:
        """Copy the ID or name under the cursor."""
        text = self.frame.copyable()
        if text is not None:
            self.copy(text, text)

    def action_copy_command(self) -> None:
        """Copy the command that prints what the screen shows."""
        command = self.frame.command_text()
        self.copy(command, command)
