"""The part of the console that goes from place to place: it owns the stack of screens."""

from abc import abstractmethod
from typing import ClassVar, Final

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from streamops.present.text import safe, shorten
from streamops.tui import goto, places
from streamops.tui.asking import Go, GoTo, Say, SwitchContext
from streamops.tui.live import Live
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.opening import screen_for

LONGEST_NOTICE: Final = 400


class GoingApp(App[int]):
    """An app of places, one on top of the other.

    Attributes:
        live: What is known, and where it comes from.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", show=False),
        Binding("1", "root", "groups", show=False),
        Binding("2", "streams", "streams", show=False),
        Binding("t", "tail", "tail", show=False),
        Binding("y", "copy_id", "copy ID", show=False),
        Binding("c", "copy_command", "copy command", show=False),
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

    def get_default_screen(self) -> Screen[None]:
        """The root of the stack."""
        return screen_for(places.Status(), self.moment)

    @abstractmethod
    def switch_context(self, name: str) -> None:
        """Go to another server, by its context's name."""

    @abstractmethod
    async def action_quit(self) -> None:
        """Quit."""

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
        match goto.parse_goal(message.text, self.moment.observation):
            case goto.Switch(context):
                self.switch_context(context)
            case goto.Quit():
                await self.action_quit()
            case goto.Nowhere(reason):
                self.say(reason, warning=True)
            case place:
                self.go(place)

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
            self.push_screen(screen_for(place, self.moment))

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

    def action_help(self) -> None:
        """Explain the row under the cursor, and the keys."""
        from streamops.tui.screens.help import HelpScreen  # noqa: PLC0415 - the first screen needs none of it

        frame = self.frame
        if not isinstance(frame, HelpScreen):
            self.push_screen(HelpScreen(frame.place, self.moment, frame.explain()))

    def action_copy_id(self) -> None:
        """Copy the ID or name under the cursor."""
        text = self.frame.copyable()
        if text is not None:
            self._copy(text)

    def action_copy_command(self) -> None:
        """Copy the command that prints what the screen shows."""
        self._copy(self.frame.command_text())

    def _copy(self, text: str) -> None:
        # The terminal's clipboard takes UTF-8; bytes of a name that are not UTF-8 cannot go through it.
        self.copy_to_clipboard(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
        self.say(f"copied {text}")
